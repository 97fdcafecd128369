package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"plantstore/internal/token"
)

// writeEvents writes into the sample events in folder what is computed from the
// rest of them.
func writeEvents(folder string) error {
	files, err := filepath.Glob(folder + "/*/*.json")
	if err != nil {
		return err
	}
	for _, file := range files {
		event, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(seal(string(event))), 0o600); err != nil {
			return err
		}
	}
	return nil
}

var (
	bearer    = regexp.MustCompile(`"authorization": "Bearer \w+_(\w{36})\w{6}"`)
	presented = regexp.MustCompile(`"presented": "\w*"`)
)

// seal returns event with the prefix and the checksum of its token, and with the
// digest of its Authorization header as the value that the verdict is about.
func seal(event string) string {
	authorization := ""
	if match := bearer.FindStringSubmatch(event); match != nil {
		authorization = "Bearer " + token.Seal(match[1])
		event = strings.Replace(event, match[0], `"authorization": "`+authorization+`"`, 1)
	}
	return presented.ReplaceAllString(event, `"presented": "`+token.Digest(authorization)+`"`)
}

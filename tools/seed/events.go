package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"plantstore/internal/token"
)

// newSecret returns the token with these 30 random characters.
func newSecret(characters string) (secret string, err error) {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	random := []byte(characters + "theTokensID0")
	for i, c := range random {
		random[i] = byte(strings.IndexByte(alphabet, c)) // token.Issue makes c of it
	}
	secret, _, err = token.Issue(bytes.NewReader(random), "gardener", time.Time{}, time.Hour)
	return secret, err
}

// writeEvents writes into the sample events in folder what is computed from the
// rest of them.
func writeEvents(folder string) error {
	files, err := filepath.Glob(folder + "/*/*.json")
	for _, file := range files {
		event, readErr := os.ReadFile(file)
		sealed, sealErr := seal(string(event))
		if err = errors.Join(err, readErr, sealErr); err == nil {
			err = os.WriteFile(file, []byte(sealed), 0o600)
		}
	}
	return err
}

var (
	bearer    = regexp.MustCompile(`"authorization": "Bearer \w+_(\w{30})\w{6}"`)
	presented = regexp.MustCompile(`"presented": "\w*"`)
)

// seal returns event with the prefix and the checksum of its token, and with the
// digest of its Authorization header as the value that the verdict is about.
func seal(event string) (string, error) {
	authorization := ""
	if match := bearer.FindStringSubmatch(event); match != nil {
		secret, err := newSecret(match[1])
		if err != nil {
			return "", err
		}
		authorization = "Bearer " + secret
		event = strings.Replace(event, match[0], `"authorization": "`+authorization+`"`, 1)
	}
	return presented.ReplaceAllString(event, `"presented": "`+token.Digest(authorization)+`"`), nil
}

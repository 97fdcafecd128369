package main

import (
	"os"
	"path"
	"regexp"
	"strings"
)

// What is true of this repository alone: these sections, and each line that names
// this tool or its section.
var (
	ownSection = regexp.MustCompile(`(?m)^#+ (Make it your own|Upgrade|Added)\n([^#].*\n|\n)*`)
	ownLine    = regexp.MustCompile(`(?m)^.*(tools/rename|#make-it-your-own).*\n`)
)

// withAn matches a word that follows an, not a, as far as its first letters say.
var withAn = regexp.MustCompile(`(?i)^(hour|heir|hono|[aio]|e[^u]|u[lmp])`)

// rewrite renames a file and what is in it.
func (n names) rewrite(file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	text := ownSection.ReplaceAllString(string(content), "")
	text = ownLine.ReplaceAllString(text, "")
	renamed := n.replace(file)
	if renamed != file {
		if err := os.MkdirAll(path.Dir(renamed), 0o755); err != nil { //nolint:gosec // as git makes folders
			return err
		}
		if _, err := output("git mv " + file + " " + renamed); err != nil {
			return err
		}
		_ = os.Remove(path.Dir(file)) // if it is empty
	}
	return os.WriteFile(renamed, []byte(n.replace(text)), 0) // which keeps the mode
}

// replace returns text with the new names. One pass replaces them all, so that a new
// name may contain an old one.
func (n names) replace(text string) string {
	var pairs []string
	for i, form := range n.forms() {
		pairs = append(pairs, current.forms()[i], form)
	}
	text = strings.NewReplacer(pairs...).Replace(text)
	first, _, _ := strings.Cut(n.name, "-")
	for _, noun := range []string{first, n.singular} {
		if withAn.MatchString(noun) {
			before := regexp.MustCompile("\\b([Aa])((?:\\s|//|#)+[\\[(*\"`]*(?i:" + noun + "))")
			text = before.ReplaceAllString(text, "${1}n$2")
		}
	}
	return text
}

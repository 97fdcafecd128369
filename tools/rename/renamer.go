package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"regexp"
	"strings"
)

// renamer replaces the names of this repository.
type renamer struct {
	old      *regexp.Regexp
	new      map[string]string // what old matches, to its replacement
	articles *regexp.Regexp    // before a name that is new
}

func newRenamer(wanted names) renamer {
	r := renamer{new: map[string]string{}}
	var patterns []string
	forms := wanted.forms()
	for i, form := range current.forms() {
		r.new[form] = forms[i]
		patterns = append(patterns, regexp.QuoteMeta(form))
	}
	if wanted.singular != current.singular {
		for word, other := range samples {
			r.new[word] = other
			patterns = append(patterns, `\b`+regexp.QuoteMeta(word)+`\b`)
		}
	}
	r.old = regexp.MustCompile(strings.Join(patterns, "|"))
	nouns := strings.Join([]string{wanted.words(" "), wanted.command(), wanted.singular}, "|")
	r.articles = regexp.MustCompile("\\b([Aa])((?:\\s|//|#)+[\\[(*\"`]*)(?i:(" + nouns + "))")
	return r
}

// replace returns text with the new names. One pass replaces them all, so that a new
// name may contain an old one.
func (r renamer) replace(text string) string {
	text = r.old.ReplaceAllStringFunc(text, func(form string) string { return r.new[form] })
	return r.articles.ReplaceAllStringFunc(text, func(found string) string {
		match := r.articles.FindStringSubmatch(found)
		return match[1] + article(match[3])[1:] + match[2] + match[3]
	})
}

// clash returns an error if two files or two Go names would get the same name, or a
// Go name would be a keyword.
func (r renamer) clash(files []string) error {
	old := map[string]string{} // by the new name
	for _, file := range files {
		found := []string{file}
		if path.Ext(file) == ".go" {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for node := range ast.Preorder(parsed) {
				if identifier, ok := node.(*ast.Ident); ok {
					found = append(found, identifier.Name)
				}
			}
		}
		for _, name := range found {
			renamed := r.replace(name)
			if token.IsKeyword(renamed) {
				return fmt.Errorf("%s would be called %s, a keyword of Go: choose another NAME or ENTITY", name, renamed)
			}
			if other, ok := old[renamed]; ok && other != name {
				return fmt.Errorf("%s and %s would both be called %s: choose another NAME or ENTITY", other, name, renamed)
			}
			old[renamed] = name
		}
	}
	return nil
}

// file renames a file and what is in it. It leaves out what is about this tool: the
// section of CONTRIBUTING.md, and each line that names the tool or the section.
func (r renamer) file(name string) error {
	content, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if !bytes.ContainsRune(content, 0) {
		text := regexp.MustCompile(`(?s)## Make it your own\n.*?\n(## )`).ReplaceAllString(string(content), "$1")
		text = regexp.MustCompile(`(?m)^.*(tools/rename|#make-it-your-own).*\n`).ReplaceAllString(text, "")
		content = []byte(r.replace(text))
	}
	renamed := r.replace(name)
	if err := os.MkdirAll(path.Dir(renamed), 0o755); err != nil { //nolint:gosec // as git makes folders
		return err
	}
	if err := os.Rename(name, renamed); err != nil {
		return err
	}
	_ = os.Remove(path.Dir(name))            // if it is empty
	return os.WriteFile(renamed, content, 0) // which keeps the mode
}

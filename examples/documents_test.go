package examples

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A path in a document exists, and a file without a path is in some folder. Files in bin
// are built when needed, and what has the name getplant is yet to be written.
func TestPathsInDocuments(t *testing.T) {
	t.Parallel()
	isFile := map[string]bool{} // by its name alone
	_ = fs.WalkDir(os.DirFS(".."), ".", func(name string, _ fs.DirEntry, _ error) error {
		isFile[path.Base(name)] = true
		return nil // what another test has just removed is not missed
	})
	words := regexp.MustCompile(`\.?[\w*][\w.*-]*(/[\w.*-]+)*`)
	fileName := regexp.MustCompile(`^[\w.-]+\.(go|md|mjs|png|py|toml|txt|yaml|yml)$`)
	documents, _ := filepath.Glob("../docs/*.md")
	for _, document := range append(documents, "../README.md", "../CONTRIBUTING.md") {
		content, err := os.ReadFile(document)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words.FindAllString(string(content), -1) {
			word = strings.TrimRight(word, "./")
			folder, _, _ := strings.Cut(word, "/")
			_, err := os.Stat("../" + folder)
			found, _ := filepath.Glob("../" + word)
			isPath := err == nil && folder != "bin" && strings.Contains(word, "/")
			missing := isPath && len(found) == 0 || fileName.MatchString(word) && !isFile[word]
			if missing && !strings.Contains(word, "getplant") {
				t.Errorf("%s names %s, which does not exist", document, word)
			}
		}
	}
}

// A test that a document or a comment names exists.
func TestNamesOfTests(t *testing.T) {
	t.Parallel()
	isTest := map[string]bool{}
	named := map[string]string{} // a file that names the test
	definition := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	name := regexp.MustCompile(`\bTest[A-Z]\w*`)
	_ = fs.WalkDir(os.DirFS(".."), ".", func(file string, _ fs.DirEntry, _ error) error {
		if !slices.Contains([]string{".go", ".md", ".yaml"}, path.Ext(file)) {
			return nil
		}
		content, _ := os.ReadFile("../" + file) // it may be gone
		for _, match := range definition.FindAllSubmatch(content, -1) {
			isTest[string(match[1])] = true
		}
		for _, match := range name.FindAll(content, -1) {
			named[string(match)] = file
		}
		return nil
	})
	for test, file := range named {
		if !isTest[test] {
			t.Errorf("%s names %s, which does not exist", file, test)
		}
	}
}

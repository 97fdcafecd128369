package examples

import (
	"io/fs"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plantstore/test/openapitest"
	"plantstore/test/processtest"
)

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

// README.md names each member of a NewPlant. It shows the command that `make run` prints, and what that
// prints when it is run, and run again.
func TestReadme(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(content)
	for _, member := range openapitest.Members("NewPlant") {
		if !strings.Contains(readme, "`"+member+"`") {
			t.Errorf("README.md does not name the member %s", member)
		}
	}
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"))
	_, command, _ := strings.Cut(server.Greeting, "  curl")
	command = "curl " + strings.TrimSpace(command)
	shown := strings.NewReplacer(server.URL, "http://127.0.0.1:8080", server.Token, "<ACCESS_TOKEN>").Replace(command)
	if !strings.Contains(readme, "\n"+shown+"\n") {
		t.Errorf("make run prints %q, which README.md lacks", shown)
	}
	for _, format := range []string{"```json\n%s\n```", "gets status 400 and `%s`"} {
		printed, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
		if err != nil {
			t.Fatal(err)
		}
		want := strings.Replace(format, "%s", strings.TrimSpace(string(printed)), 1)
		if !strings.Contains(readme, want) {
			t.Errorf("the command prints %s, and README.md lacks %q", printed, want)
		}
	}
}

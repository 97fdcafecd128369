// Package importtest checks what packages depend on, also indirectly. What each may import is in
// .golangci.yml, under depguard.
package importtest

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// list returns what `go list` prints in the root of the module.
func list(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"list"}, arguments...)...)
	command.Dir = "../.."
	out, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// The domain depends on the standard library alone.
func TestDomain(t *testing.T) {
	for _, folder := range []string{"internal/plant", "internal/token"} {
		t.Run(folder, func(t *testing.T) {
			itself := strings.TrimSpace(list(t, "./"+folder))
			for path := range strings.FieldsSeq(list(t, "-deps", "-f={{if not .Standard}}{{.ImportPath}}{{end}}", "./"+folder)) {
				if path != itself {
					t.Errorf("%s depends on %s, want only the standard library", folder, path)
				}
			}
		})
	}
}

// A function starts faster without the SDK's config module, which reads files and calls services, and
// without the parts of the command-line tool.
func TestFunctions(t *testing.T) {
	page := strings.TrimSpace(list(t, "./internal/page"))
	needless := []string{"github.com/aws/aws-sdk-go-v2/config", "github.com/alecthomas/kong", page}
	functions := 0
	for command := range strings.Lines(list(t, `-f={{.ImportPath}} {{join .Deps " "}}`, "./cmd/...")) {
		paths := strings.Fields(command)
		if !slices.Contains(paths, "github.com/aws/aws-lambda-go/lambda") {
			continue
		}
		functions++
		for _, path := range needless {
			if slices.Contains(paths, path) {
				t.Errorf("%s depends on %s, which a function does not need", paths[0], path)
			}
		}
	}
	if functions < 2 {
		t.Errorf("%d packages of cmd start a function, want two or more", functions)
	}
}

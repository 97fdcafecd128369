package contract

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	openapi "plantstore"
	"plantstore/test/processtest"
)

// tools/contract-diff lets a change of openapi.yaml pass exactly if it breaks no client or has another major version.
// What breaks a client oasdiff decides, except for a code of an Error.
func TestContractDiff(t *testing.T) {
	t.Parallel()
	folder := processtest.Repository(t)
	tests := []struct {
		name     string
		base     string
		old, new string // in openapi.yaml
		passes   bool
		prints   string
	}{
		{"a new code", "HEAD", "oneOf:\n", "oneOf:\n            - {const: 1}\n", true, "No breaking changes"},
		{"a changed code", "HEAD", "const: 1006", "const: 1", false, "openapi.yaml breaks clients of HEAD"},
		{"a removed header", "HEAD", "            Retry-After:", "            X-Retry-After:", false, "retry-after"},
		{"the next major version", "HEAD", "  version: ", "  version: 9", true, "another major version"},
		{"another service", "HEAD", "  title: ", "  title: Another ", true, "the contract of another service"},
		{"no base", "gone", "[id, name]", "[id, name, tag]", true, "left out: the comparison of the contract with gone"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			changed := strings.ReplaceAll(string(openapi.YAML), test.old, test.new)
			if err := os.WriteFile(filepath.Join(folder, "openapi.yaml"), []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), "tools/contract-diff", test.base)
			command.Dir = folder
			command.Env = append(os.Environ(), "GITHUB_ACTIONS=")
			out, err := command.CombinedOutput()
			if (err == nil) != test.passes || !strings.Contains(string(out), test.prints) {
				t.Errorf("tools/contract-diff %s = %v and prints %s", test.base, err, out)
				t.Errorf("want it to pass: %t, and %q", test.passes, test.prints)
			}
		})
	}
}

package contract

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/internal/processtest"
)

// schemathesis has nothing to say against the service, and something against one
// that is broken.
func TestSchemathesis(t *testing.T) {
	if _, err := exec.LookPath("st"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("schemathesis is missing: pip install -r tools/schemathesis.txt")
		}
		t.Skip("skipped: schemathesis is missing: pip install -r tools/schemathesis.txt")
	}
	tests := []struct {
		name             string
		file, from, into string
		want             string // in what schemathesis prints
	}{
		{name: "the service", want: "No issues found"},
		{"a tag may be null", "internal/plant/decode.go", "if tag != nil {", "if tag != nil && tag.Kind() != 'n' {", "Schema-violating request accepted"},
		{"a name may be empty", "internal/plant/decode.go", `if p.Name == "" {`, "if false {", "Schema-violating request accepted"},
		{"a refusal is no Error", "internal/api/errors.go", `json:"message"`, `json:"text"`, "Response violates schema"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var flags []string
			if test.file != "" {
				flags = []string{"-overlay=" + processtest.Overlay(t, test.file, test.from, test.into)}
			}
			command := exec.CommandContext(t.Context(), "../tools/schemathesis")
			command.Env = append(os.Environ(), "PLANTSTORE="+processtest.Build(t, "plantstore", flags...))
			out, err := command.CombinedOutput()
			if (err == nil) != (test.file == "") || !strings.Contains(string(out), test.want) {
				t.Errorf("schemathesis ended with %v and printed\n%s\nwant %q", err, out, test.want)
			}
		})
	}
}

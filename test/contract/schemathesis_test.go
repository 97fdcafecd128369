package contract

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// schemathesis finds no request that gets an answer other than openapi.yaml says.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("st"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("schemathesis is missing: pip install -r tools/schemathesis.txt")
		}
		t.Skip("skipped: schemathesis is missing: pip install -r tools/schemathesis.txt")
	}
	command := exec.CommandContext(t.Context(), "../../tools/schemathesis")
	command.Env = append(os.Environ(), "PLANTSTORE="+processtest.Build(t, "plantstore"))
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "No issues found") {
		t.Errorf("schemathesis ended with %v and printed\n%s", err, out)
	}
}

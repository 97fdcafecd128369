package contract

import (
	"bufio"
	"cmp"
	"encoding/json/v2"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plantstore/test/issuertest"
)

// TestJWTsThroughSAMLocal runs the cases with the tokens of an issuer through SAM's containers.
func TestJWTsThroughSAMLocal(t *testing.T) {
	if os.Getenv("SAM_LOCAL") == "" {
		t.Skip("skipped: SAM_LOCAL=1 runs this, after `sam build` and `make dynamodb`")
	}
	issuer := issuertest.Start(t, "host.docker.internal")
	var variables struct{ Parameters map[string]string }
	content, err := os.ReadFile("../../tools/sam-local.json")
	if err = cmp.Or(err, json.Unmarshal(content, &variables)); err != nil {
		t.Fatal(err)
	}
	variables.Parameters["TOKEN_ISSUER"], variables.Parameters["TOKEN_AUDIENCE"] = issuer.URL, issuer.Audience
	content, _ = json.Marshal(variables) // it was JSON
	file := filepath.Join(t.TempDir(), "variables.json")
	err = os.WriteFile(file, content, 0o600)
	command := exec.CommandContext(t.Context(), "sam", "local", "start-api", "--port", "3001", "--env-vars", file)
	command.Dir = "../.."
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) } // it stops its containers
	stderr, pipeErr := command.StderrPipe()
	if err = cmp.Or(err, pipeErr, command.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() }) // by then the context has ended
	log := ""
	for lines := bufio.NewScanner(stderr); !strings.Contains(log, "Running on"); log += lines.Text() + "\n" {
		if !lines.Scan() {
			t.Fatalf("sam local start-api ended: %s", log)
		}
	}
	go io.Copy(io.Discard, stderr) //nolint:errcheck // until it ends
	for name, secret := range issuer.Tokens {
		t.Setenv("CONTRACT_"+name, secret)
	}
	t.Setenv("WRITES", "all")
	runAll(t, fromEnvironment(t, "http://127.0.0.1:3001"))
}

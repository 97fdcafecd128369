package contract

import (
	"bufio"
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
	startSAMLocal(t, "3001", variablesFor(t, issuer))
	for name, secret := range issuer.Tokens {
		t.Setenv("CONTRACT_"+name, secret)
	}
	t.Setenv("WRITES", "all")
	runAll(t, fromEnvironment(t, "http://127.0.0.1:3001"))
}

// variablesFor writes a copy of tools/sam-local.json with the issuer, and returns its name.
func variablesFor(t *testing.T, issuer *issuertest.Issuer) string {
	t.Helper()
	content, err := os.ReadFile("../../tools/sam-local.json")
	if err != nil {
		t.Fatal(err)
	}
	var variables struct{ Parameters map[string]string }
	if err := json.Unmarshal(content, &variables); err != nil {
		t.Fatal(err)
	}
	variables.Parameters["TOKEN_ISSUER"] = issuer.URL
	variables.Parameters["TOKEN_AUDIENCE"] = issuer.Audience
	content, err = json.Marshal(variables)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "variables.json")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// startSAMLocal starts `sam local start-api`, which ends with the test.
func startSAMLocal(t *testing.T, port, variables string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "sam", "local", "start-api", "--port", port, "--env-vars", variables)
	command.Dir = "../.."
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGINT) } // it stops its containers
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Wait() }) // by then the context has ended
	lines := bufio.NewScanner(stderr)
	log := ""
	for !strings.Contains(log, "Running on") {
		if !lines.Scan() {
			t.Fatalf("sam local start-api ended: %s", log)
		}
		log += lines.Text() + "\n"
	}
	go io.Copy(io.Discard, stderr) //nolint:errcheck // until it ends
}

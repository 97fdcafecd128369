// Package issuertest gives tests a certified OpenID provider, the npm package
// oidc-provider, and tokens that it issues.
package issuertest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plantstore/test/processtest"
)

//go:embed package.json package-lock.json server.mjs
var files embed.FS

// Issuer is a running provider.
type Issuer struct {
	URL      string            `json:"issuer"`
	Audience string            `json:"audience"`
	Tokens   map[string]string `json:"tokens"` // TOKEN, OTHER_TOKEN and so on; see server.mjs
}

// Environment returns the variables with which a service accepts the tokens.
func (i *Issuer) Environment() []string {
	return []string{"TOKEN_ISSUER=" + i.URL, "TOKEN_AUDIENCE=" + i.Audience}
}

// Start starts a provider with a new key on a free port. The provider stops at the end
// of the test. If it cannot be started, Start skips the test, or fails it with CI=true.
func Start(t testing.TB) *Issuer {
	t.Helper()
	folder, err := install(t)
	if err != nil {
		processtest.Lacks(t, fmt.Sprintf("npm and Node.js 20 or later, and downloads oidc-provider: %v", err))
	}
	for range 3 { // Node.js 20 may hang while it starts, which was seen once
		if issuer := start(t, folder); issuer.URL != "" {
			return issuer
		}
	}
	t.Fatal("the provider does not start within 20 s, three times")
	return nil
}

// start starts a provider. If it prints no URL within 20 s, the Issuer has none.
func start(t testing.TB, folder string) *Issuer {
	t.Helper()
	command := exec.CommandContext(t.Context(), "node", "server.mjs")
	command.Dir = folder
	var log bytes.Buffer
	command.Stderr = &log
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	stop := func() {
		_ = stdin.Close() // which ends it
		_ = command.Wait()
	}
	t.Cleanup(stop)
	issuer := new(Issuer)
	hangs := time.AfterFunc(20*time.Second, func() { _ = command.Process.Kill() }) // it may have ended
	defer hangs.Stop()
	for lines := bufio.NewScanner(stdout); issuer.URL == "" && lines.Scan(); {
		_ = json.Unmarshal(lines.Bytes(), issuer) // other lines are notices
	}
	if issuer.URL == "" {
		stop()
		t.Logf("the provider ended: %s", &log)
	}
	return issuer
}

// install returns a folder with the provider and the packages that package-lock.json
// pins. They stay in the user's cache.
func install(t testing.TB) (string, error) {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", "-e", "process.exit(+(parseInt(process.versions.node) < 20))")
	if err := node.Run(); err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", err
	}
	hash := sha256.New()
	for _, name := range []string{"package-lock.json", "server.mjs"} {
		content, _ := files.ReadFile(name) // it is embedded
		hash.Write(content)
	}
	folder := filepath.Join(cache, "plantstore", fmt.Sprintf("oidc-provider-%x", hash.Sum(nil)[:8]))
	if _, err := os.Stat(folder); err == nil {
		return folder, nil
	}
	work := fmt.Sprint(folder, "-", os.Getpid()) // another process may install it too
	defer os.RemoveAll(work)                     //nolint:errcheck // it is a cache
	npm := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	npm.Dir = work
	if err := os.CopyFS(work, files); err != nil {
		return "", err
	}
	if out, err := npm.CombinedOutput(); err != nil {
		return "", fmt.Errorf("npm ci: %w: %s", err, out)
	}
	if err := os.Rename(work, folder); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	return folder, nil
}

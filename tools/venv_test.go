// Package tools tests tools/venv, which installs the Python programs of the others.
package tools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestVenv checks that an installation which failed prints no folder and is repeated as a whole, and one
// which succeeded is used again. No program but Python is on PATH.
func TestVenv(t *testing.T) {
	t.Parallel()
	python, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		processtest.Lacks(t, "Python 3.11")
	}
	folder := t.TempDir()
	const cutShort = "a program cut short"
	pins, others := filepath.Join(folder, "pins.txt"), filepath.Join(folder, "others.txt")
	write(t, pins, "-r "+others)
	install := func() (printed string, err error) {
		command := exec.CommandContext(t.Context(), strings.TrimSpace(string(python)), "venv", pins)
		command.Env = []string{"XDG_CACHE_HOME=" + folder, "PATH=", "PIP_NO_INDEX=1"}
		output, err := command.Output()
		return string(output), err
	}

	printed, err := install()
	if err == nil || printed != "" {
		t.Fatalf("without a file of pins, it prints %q and ends with %v, want nothing and a failure", printed, err)
	}
	left, err := filepath.Glob(filepath.Join(folder, "pinned-tools/*/bin/pip"))
	if err != nil || len(left) != 1 {
		t.Fatalf("the installation that failed leaves %q, %v, want one", left, err)
	}
	write(t, left[0], cutShort)

	write(t, others, "")
	printed, err = install()
	if want := filepath.Dir(left[0]) + "\n"; err != nil || printed != want {
		t.Fatalf("after a failure it prints %q and ends with %v, want %q", printed, err, want)
	}
	if content, err := os.ReadFile(left[0]); err != nil || string(content) == cutShort {
		t.Fatalf("after a failure %s is %q, %v, want it installed again", left[0], content, err)
	}
	write(t, others, "a change that the pins do not show")
	again, err := install()
	if err != nil || again != printed {
		t.Errorf("the second time it prints %q and ends with %v, want %q", again, err, printed)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

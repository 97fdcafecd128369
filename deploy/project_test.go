package deploy

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// A project is a copy of the scripts of deploy, with stand-ins for what they call. What AWS, a program or the service
// answers is in the folder answers, a file for each answer. What the stand-ins are asked for is in the file calls.
type project struct{ folder string }

// newProject returns a project with these answers and programs, by file.
func newProject(t *testing.T, answers, programs map[string]string) project {
	t.Helper()
	p := project{folder: t.TempDir()}
	for _, script := range []string{"deploy", "smoke-test", "status"} {
		write(t, filepath.Join(p.folder, "deploy", script), read(t, script))
	}
	// Not a wrapper, which may put a folder with another aws in front.
	python, err := exec.CommandContext(t.Context(), "python3", "-c", "import sys; print(sys.executable)").Output()
	if err != nil {
		processtest.SkipWithout(t, "python3")
	}
	write(t, filepath.Join(p.folder, "path/python3"), "#!/bin/sh\nexec "+strings.TrimSpace(string(python))+` "$@"`)
	for file, program := range programs {
		write(t, filepath.Join(p.folder, file), "#!/bin/sh\n"+program)
	}
	for file, answer := range answers {
		write(t, filepath.Join(p.folder, "answers", file), answer)
	}
	write(t, filepath.Join(p.folder, "samconfig.toml"), "[default.deploy.parameters]\n[dev.deploy.parameters]\n[staging.deploy.parameters]\n")
	write(t, filepath.Join(p.folder, "calls"), "")
	return p
}

// run runs a script of the project, with these variables. It checks that every token that the script issued is
// revoked, and that no text of the stack was run as a command.
func (p project) run(t *testing.T, script []string, variables ...string) (output string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, filepath.Join(p.folder, script[0]), script[1:]...)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	command.Env = slices.Concat(variables, []string{
		"PATH=" + filepath.Join(p.folder, "path") + ":" + os.Getenv("PATH"),
		"GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY=" + filepath.Join(p.folder, "summary"),
		"AWS_REGION=eu-central-1",
	})
	out, _ := command.CombinedOutput() // the error is in the status

	counts := map[string]int{}
	for _, call := range p.calls(t) {
		counts[call]++
	}
	tests := counts["test"] + counts["test-update"] // one that passes revokes its own token twice
	if counts["revoke-smoke-test-token"] < tests || counts["revoke-smoke-test-other-token"] != tests {
		t.Errorf("the calls are %v, want that the two tokens of each test are revoked", counts)
	}

	if tests > 0 && !strings.Contains(string(out), "::add-mask::smoke-test-token\n::add-mask::smoke-test-other-token\n") {
		t.Errorf("GitHub does not mask the tokens in its log:\n%s", out)
	}

	if _, err := os.Stat(filepath.Join(p.folder, "evil")); err == nil {
		t.Errorf("a text of the stack was run as a command:\n%s", out)
	}
	return string(out), command.ProcessState.ExitCode()
}

// calls returns what the stand-ins were asked for.
func (p project) calls(t *testing.T) []string {
	t.Helper()
	return strings.Fields(read(t, filepath.Join(p.folder, "calls")))
}

// write writes a file that can be run, in a folder that may not exist yet.
func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o700); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

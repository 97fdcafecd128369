package processtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Repository returns a folder with a new git repository. Its one commit has the files of this repository
// as they are, but for those that git ignores. Without git, it skips the test, or fails it with CI=true.
func Repository(t testing.TB) (folder string) {
	t.Helper()
	root, err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Output()
	if err != nil {
		Lacks(t, "git and a clone")
	}
	from := strings.TrimSpace(string(root))
	folder = t.TempDir()
	files := git(t, from, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	for file := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
		copyFile(t, filepath.Join(from, file), filepath.Join(folder, file))
	}
	git(t, folder, "init", "--quiet")
	git(t, folder, "add", "--all")
	git(t, folder, "-c", "user.name=x", "-c", "user.email=x@example.com", "commit", "--quiet", "--message", "x")
	return folder
}

// git returns what a command of git prints in a folder.
func git(t testing.TB, folder string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", arguments...)
	command.Dir = folder
	out, err := command.Output()
	if err != nil {
		t.Fatalf("git %v: %v", arguments, err)
	}
	return string(out)
}

// copyFile copies a file, unless it is deleted.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	info, err := os.Stat(from)
	if os.IsNotExist(err) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, info.Mode()); err != nil {
		t.Fatal(err)
	}
}

package processtest

import (
	"os/exec"
	"testing"
)

// Copies the files of a repository by an index of its own, so that the user's stays as it is.
const copyRepository = `set -e
cd "$(git rev-parse --show-toplevel)"
export GIT_INDEX_FILE="$1/index"
git add --all
git checkout-index --all --prefix="$1/"
rm "$GIT_INDEX_FILE"
unset GIT_INDEX_FILE
cd "$1"
git init --quiet
git add --all
git -c user.name=x -c user.email=x@example.com commit --quiet --message=x`

// Repository returns a folder with a new git repository. Its one commit has the files of this repository
// as they are, but for those that git ignores. Without git, it skips the test, or fails it with CI=true.
func Repository(t testing.TB) (folder string) {
	t.Helper()
	if err := exec.CommandContext(t.Context(), "git", "rev-parse", "--show-toplevel").Run(); err != nil {
		Lacks(t, "git and a clone")
	}
	folder = t.TempDir()
	out, err := exec.CommandContext(t.Context(), "sh", "-c", copyRepository, "sh", folder).CombinedOutput()
	if err != nil {
		t.Fatalf("copying the repository: %v: %s", err, out)
	}
	return folder
}

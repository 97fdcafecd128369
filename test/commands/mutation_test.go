package commands

import (
	"strings"
	"testing"
)

// TestMutate checks that mutations which live are a failure, also if those of the next package die.
func TestMutate(t *testing.T) {
	t.Parallel()
	const gremlins = `GREMLINS=sh -c 'case "$*" in *plant) exit 1; esac' sh`
	_, printed, err := makeWithStandIns(t, nil, "mutate", "PACKAGE=plant token", gremlins)
	if err == nil || !strings.Contains(printed, "Error 1") {
		t.Errorf("make mutate = %v, %s, want a failure", err, printed)
	}
}

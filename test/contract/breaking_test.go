package contract

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore"
	"plantstore/test/processtest"
)

// tools/contract-diff lets a change of openapi.yaml pass exactly if it breaks no client or has another major version.
func TestContractDiff(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	shell := func(command string) (string, error) {
		out, err := exec.CommandContext(t.Context(), "bash", "-ec", `cd "$0" && `+command, folder).CombinedOutput()
		return string(out), err
	}
	const clone = `cp -r "$OLDPWD"/../../{go.mod,openapi.yaml,tools} . && git init -q && git add -A && ` +
		`git -c user.name=x -c user.email=x@example.com commit -qm x && git branch base`
	if out, err := shell(clone); err != nil {
		processtest.Lacks(t, "git: "+out)
	}
	const required, requiresTag = "required: [id, name]", "required: [id, name, tag]"
	for _, test := range []struct {
		name, base string
		change     []string // of openapi.yaml: old, new, ...
		breaks     bool
		want       string
	}{
		{"nothing", "base", nil, false, "No changes"},
		{"an optional member", "base", []string{"        tag:", "        x: {type: string}\n        tag:"}, false, "No breaking"},
		{"a new code", "base", []string{"oneOf:\n", "oneOf:\n            - {const: 1}\n"}, false, "No breaking changes"},
		{"a required member", "base", []string{required, requiresTag}, true, "`tag` became required"},
		{"a changed code", "base", []string{"const: 1006", "const: 1"}, true, "openapi.yaml breaks clients of base"},
		{"a removed code", "base", []string{"            - {const: 5001, description: 'There was an internal error.'}\n", ""}, true, "removed"},
		{"a removed header", "base", []string{"            Retry-After:", "            X-Retry-After:"}, true, "retry-after"},
		{"a version in quotes", "base", []string{required, requiresTag, "  version: 1.0.0", `  version: "1.0.0"`}, true, "became required"},
		{"another path", "base", []string{"/plants:", "/plant:"}, true, "path removed"},
		{"the next major version", "base", []string{required, requiresTag, "  version: ", "  version: 9"}, false, "another major"},
		{"no base", "gone", []string{required, requiresTag}, false, "left out: the comparison of the contract with gone"},
	} {
		changed := strings.NewReplacer(test.change...).Replace(string(plantstore.OpenAPI))
		if err := os.WriteFile(folder+"/openapi.yaml", []byte(changed), 0o600); err != nil {
			t.Fatal(err)
		}
		out, err := shell("env -u GITHUB_ACTIONS tools/contract-diff " + test.base)
		if (err != nil) != test.breaks || !strings.Contains(out, test.want) {
			t.Errorf("%s: tools/contract-diff %s = %v and prints %s, want %q", test.name, test.base, err, out, test.want)
		}
	}
}

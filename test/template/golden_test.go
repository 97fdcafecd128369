package template

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"
)

// goldenFile has what SAM makes of template.yaml for production, with a canary.
const goldenFile = "test/template/testdata/stack.yaml"

var update = flag.Bool("update", false, "write "+goldenFile)

// TestGolden compares the stack with the golden file, whose diff shows what a change of template.yaml does in AWS.
func TestGolden(t *testing.T) {
	if *update {
		t.Setenv("CI", "true") // without SAM, it fails
	}
	stack := translated(t).Golden
	if *update {
		if err := os.WriteFile(goldenFile, []byte(stack), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	compare(t, "stack", decodeYAML(t, stack), decodeYAML(t, string(content)))
	if t.Failed() {
		t.Logf("if the stack should change, type: go test ./test/template -update, and read the diff of %s", goldenFile)
	}
}

// compare reports each place where got differs from want.
func compare(t *testing.T, place string, got, want any) {
	t.Helper()
	gotMap, gotIsMap := got.(map[string]any)
	wantMap, wantIsMap := want.(map[string]any)
	gotList, gotIsList := got.([]any)
	wantList, wantIsList := want.([]any)
	switch {
	case gotIsMap && wantIsMap:
		names := maps.Clone(wantMap)
		maps.Copy(names, gotMap)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			compare(t, place+"."+name, gotMap[name], wantMap[name])
		}
	case gotIsList && wantIsList && len(gotList) == len(wantList):
		for i := range wantList {
			compare(t, fmt.Sprintf("%s.%d", place, i), gotList[i], wantList[i])
		}
	case inJSON(got) != inJSON(want): // 1 is a float64 in JSON, and an int in YAML
		t.Errorf("%s is %s, want %s", place, inJSON(got), inJSON(want))
	}
}

func inJSON(value any) string {
	if value == nil {
		return "nothing"
	}
	text, _ := json.Marshal(value) // which cannot fail
	return string(text)
}

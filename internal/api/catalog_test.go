package api

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// openapi.yaml has a table of the errors.
func TestErrorTable(t *testing.T) {
	content, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	const indent = "        "
	want := indent + "| code | message |\n" + indent + "|---|---|\n"
	for _, e := range catalog {
		want += fmt.Sprintf("%s| %d | %s |\n", indent, e.code, e.message)
	}
	if !strings.Contains(string(content), "\n"+want+"\n") {
		t.Errorf("openapi.yaml lacks the catalog's table:\n%s", strings.ReplaceAll(want, indent, "")) // go test indents it
	}
}

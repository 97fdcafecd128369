package api

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// README.md and openapi.yaml have a table of the errors.
func TestErrorTables(t *testing.T) {
	tests := []struct{ file, indent string }{
		{file: "README.md"},
		{file: "openapi.yaml", indent: "            "},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			content, err := os.ReadFile("../../" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			want := test.indent + "| code | message |\n" + test.indent + "|---|---|\n"
			for _, e := range catalogue {
				want += fmt.Sprintf("%s| %d | %s |\n", test.indent, e.code, e.message)
			}
			if !strings.Contains(string(content), "\n"+want+"\n") {
				t.Errorf("%s does not have the table of the catalogue:\n%s", test.file, want)
			}
		})
	}
}

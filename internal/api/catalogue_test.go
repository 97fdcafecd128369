package api

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// openapi.yaml and README.md list the errors of the catalogue and no others.
func TestCatalogue(t *testing.T) {
	for path, pattern := range map[string]string{
		"../../openapi.yaml": `(?m)^ +- \{const: (\d{4}), description: '(.*)'\}$`,
		"../../README.md":    `(?m)^\| (\d{4}) \| (.*) \|$`,
	} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, row := range regexp.MustCompile(pattern).FindAllStringSubmatch(string(text), -1) {
			got = append(got, row[1]+" "+row[2])
		}
		for _, o := range catalogue {
			want = append(want, fmt.Sprint(o.Code, " ", o.Message))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s has the errors\n%s\nwant\n%s", path, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

package contract

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// suite calls f for each case of JSONTestSuite.
func suite(t testing.TB, f func(name, text string)) {
	t.Helper()
	content, err := os.ReadFile("testdata/jsonsuite.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		name, text, times := "", "", 1
		if strings.HasPrefix(line, "#") {
			continue
		}
		if n, err := fmt.Sscanf(line, "%s %q %d", &name, &text, &times); n < 2 {
			t.Fatalf("testdata/jsonsuite.txt: %.100q: %v", line, err)
		}
		f(name, strings.Repeat(text, times))
	}
}

// bodiesWith returns bodies with text as the whole, as id and as an unknown member.
func bodiesWith(text string) []string {
	return []string{text, `{"id":` + text + `,"name":"oak"}`, `{"id":1,"name":"oak","x":` + text + `}`}
}

// The service accepts as JSON what every parser must accept, except for duplicate names, and
// refuses what every parser must refuse.
func TestJSONTestSuite(t *testing.T) {
	t.Parallel()
	s, counts := newService(t, nil), map[string]int{}
	suite(t, func(name, text string) {
		kind := name[:2]
		counts[kind]++
		for _, body := range bodiesWith(text) {
			code := s.checkBody(t, body)
			isJSON := code != 1002 && code != 1003
			wantJSON := kind == "y_" && !strings.HasPrefix(name, "y_object_duplicated_key")
			if kind != "i_" && isJSON != wantJSON {
				t.Errorf("%s: POST %.200q = code %d, want accepted as JSON: %t", name, body, code, wantJSON)
			}
		}
	})
	if counts["y_"] != 95 || counts["n_"] != 188 || counts["i_"] != 35 {
		t.Errorf("the suite has cases %v, want 95 y_, 188 n_ and 35 i_", counts)
	}
}

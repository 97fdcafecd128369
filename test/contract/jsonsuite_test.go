package contract

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"plantstore/internal/plant"
)

// A suiteCase is a case of JSONTestSuite. A parser must accept a text whose name begins with y_, must refuse n_, and may
// do either with i_.
type suiteCase struct{ name, text string }

// jsonTestSuite returns the cases of testdata/jsonsuite.txt.
func jsonTestSuite(t *testing.T) []suiteCase {
	t.Helper()
	content, err := os.ReadFile("testdata/jsonsuite.txt")
	if err != nil {
		t.Fatal(err)
	}
	var all []suiteCase
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, text, times := "", "", 1
		if n, err := fmt.Sscanf(line, "%s %q %d", &name, &text, &times); n < 2 {
			t.Fatalf("testdata/jsonsuite.txt: %.100q: %v", line, err)
		}
		all = append(all, suiteCase{name: name, text: strings.Repeat(text, times)})
	}
	return all
}

// plant.Decode accepts as JSON what every parser must accept, except for duplicate names, and refuses what every parser
// must refuse: as the whole body, as each member and as an unknown one.
func TestJSONTestSuite(t *testing.T) {
	t.Parallel()
	around := frames(t)
	for _, c := range jsonTestSuite(t) {
		if strings.HasPrefix(c.name, "i_") {
			continue
		}
		wantJSON := strings.HasPrefix(c.name, "y_") && !strings.HasPrefix(c.name, "y_object_duplicated_key")
		t.Run(c.name, func(t *testing.T) {
			for _, frame := range around {
				body := frame.before + c.text + frame.after
				_, err := plant.Decode([]byte(body))
				if isJSON := !errors.Is(err, plant.ErrMalformed); isJSON != wantJSON {
					t.Errorf("Decode(%.200q) = %v, want it accepted as JSON: %t", body, err, wantJSON)
				}
			}
		})
	}
}

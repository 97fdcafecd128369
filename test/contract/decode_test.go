package contract

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plantstore/internal/plant"
)

// A suiteCase is a case of JSONTestSuite. A parser must accept a text whose name begins with y_, must refuse n_, and may
// do either with i_.
type suiteCase struct{ name, text string }

// jsonTestSuite returns the cases of testdata/jsonsuite.txt.
func jsonTestSuite(t testing.TB) []suiteCase {
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

// bodiesWith returns bodies with text as the whole, as each member and as an unknown one.
func bodiesWith(text string) []string {
	return []string{
		text,
		`{"id":` + text + `,"name":"fern"}`,
		`{"id":1,"name":` + text + `}`,
		`{"id":1,"name":"fern","tag":` + text + `}`,
		`{"id":1,"name":"fern","x":` + text + `}`,
	}
}

// plant.Decode accepts as JSON what every parser must accept, except for duplicate names, and refuses what every parser
// must refuse.
func TestJSONTestSuite(t *testing.T) {
	t.Parallel()
	for _, c := range jsonTestSuite(t) {
		wantJSON := strings.HasPrefix(c.name, "y_") && !strings.HasPrefix(c.name, "y_object_duplicated_key")
		if strings.HasPrefix(c.name, "i_") {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			for _, body := range bodiesWith(c.text) {
				_, err := plant.Decode([]byte(body))
				if isJSON := !errors.Is(err, plant.ErrMalformed); isJSON != wantJSON {
					t.Errorf("Decode(%.200q) = %v, want it accepted as JSON: %t", body, err, wantJSON)
				}
			}
		})
	}
}

// FuzzDecode compares plant.Decode with the schema of a NewPlant in openapi.yaml. Without -fuzz it tries the bodies of the
// cases and the texts of JSONTestSuite.
func FuzzDecode(f *testing.F) {
	schema := loadContract(f).operations["POST /plants"].body
	for _, c := range cases() {
		for _, s := range c.steps {
			f.Add(strings.NewReplacer("$1", "1", "$2", "2").Replace(s.body[:min(len(s.body), 1000)]))
		}
	}
	for _, c := range jsonTestSuite(f) {
		f.Add(c.text[:min(len(c.text), 1000)]) // long ones would slow it down
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, body := range bodiesWith(text) {
			checkDecode(t, schema, body)
		}
	})
}

// The schema's validator computes 10^exponent.
var hugeExponent = regexp.MustCompile(`[eE][+-]?[0-9]{4}`)

// checkDecode checks that plant.Decode returns a plant exactly if the body is valid under the schema, with the texts that
// encoding/json finds in the body. TestJSONTestSuite is about what is malformed, and internal/plant tests the ids.
func checkDecode(t *testing.T, schema *jsonschema.Schema, body string) {
	t.Helper()
	got, err := plant.Decode([]byte(body))
	if errors.Is(err, plant.ErrMalformed) || errors.Is(err, plant.ErrTooLarge) || hugeExponent.MatchString(body) {
		return
	}
	value, jsonErr := jsonschema.UnmarshalJSON(strings.NewReader(body))
	if jsonErr != nil {
		t.Fatalf("Decode(%q) = %v, want ErrMalformed: %v", body, err, jsonErr)
	}
	schemaErr := schema.Validate(value)
	if (err == nil) != (schemaErr == nil) {
		t.Fatalf("Decode(%q) = %v, the schema says %v", body, err, schemaErr)
	}
	if err != nil {
		return
	}
	var want plant.Plant
	if err := json.Unmarshal([]byte(body), &want); err != nil {
		t.Fatal(err)
	}
	if got, want := asJSON(t, got.Plant), asJSON(t, want); got != want {
		t.Errorf("Decode(%q) = %s, want %s", body, got, want)
	}
}

func asJSON(t *testing.T, p plant.Plant) string {
	t.Helper()
	content, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

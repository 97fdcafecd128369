package contract

import (
	"encoding/json/v2"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plantstore/internal/plant"
	"plantstore/test/openapitest"
)

// FuzzDecode compares plant.Decode with the schema of a NewPlant in openapi.yaml. Without -fuzz it tries the bodies of the
// cases, and each of these values as each member of a plant.
func FuzzDecode(f *testing.F) {
	schema := compile(f, "#/components/schemas/NewPlant")
	values := []string{
		`null`, `true`, `[]`, `[1]`, `{}`, `{"id":1}`, `""`, `"1"`, `"\u0000"`, `"\ud83c\udf31"`,
		`0`, `-0.0`, `-1`, `1.0`, `1e3`, `1200E-2`, `1.5`, `1e-1`, `1e19`,
		`9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `-9223372036854775809`,
	}
	for _, member := range append(openapitest.Members("NewPlant"), "unknown") {
		var others map[string]any
		if err := json.Unmarshal([]byte(openapitest.NewPlant(openapitest.ID(1), openapitest.Plant(0))), &others); err != nil {
			f.Fatal(err)
		}
		delete(others, member)
		for _, value := range values {
			f.Add(and(asJSON(f, others), fmt.Sprintf("%q:%s", member, value)))
		}
	}
	ids := strings.NewReplacer("$1", openapitest.ID(1), "$2", openapitest.ID(2))
	for _, c := range cases() {
		for _, s := range c.steps {
			f.Add(ids.Replace(s.body[:min(len(s.body), 1000)])) // long ones would slow it down
		}
	}
	f.Fuzz(func(t *testing.T, body string) { checkDecode(t, schema, body) })
}

var hugeExponent = regexp.MustCompile(`[eE][+-]?[0-9]{4}`)

// checkDecode checks that plant.Decode returns a plant exactly if the body is valid under the schema, with the texts that
// encoding/json finds in the body. internal/plant tests what is malformed, and the values of ids.
func checkDecode(t *testing.T, schema *jsonschema.Schema, body string) {
	t.Helper()
	got, err := plant.Decode([]byte(body))
	if errors.Is(err, plant.ErrMalformed) || errors.Is(err, plant.ErrTooLarge) {
		return
	}
	if hugeExponent.MatchString(body) {
		return // the schema's validator would compute 10^exponent
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

func asJSON(t testing.TB, value any) string {
	t.Helper()
	content, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

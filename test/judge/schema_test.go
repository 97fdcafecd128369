package judge

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"plantstore/internal/plant"
)

// judge decides by the schemas of openapi.yaml, which are under their names.
type judge map[string]*jsonschema.Schema

func newJudge(t testing.TB) judge {
	t.Helper()
	content, err := os.ReadFile("../../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.yaml", document); err != nil {
		t.Fatal(err)
	}
	j := judge{}
	for _, name := range []string{"NewPlant", "Plant", "Error"} {
		if j[name], err = compiler.Compile("openapi.yaml#/components/schemas/" + name); err != nil {
			t.Fatal(err)
		}
	}
	return j
}

// decode is what plant.Decode must be.
func (j judge) decode(body []byte) (p plant.NewPlant, err error) {
	value, ok := read(body)
	if !ok {
		return p, plant.ErrMalformed
	}
	if j["NewPlant"].Validate(value) != nil {
		return p, plant.ErrInvalid
	}
	members, _ := value.(map[string]any)
	id, ok := new(big.Rat).SetString(string(members["id"].(json.Number)))
	if !ok {
		return p, fmt.Errorf("judge: math/big does not take the id %v", members["id"])
	}
	p.ID = id.Num().Int64()
	p.Name, _ = members["name"].(string)
	tag, hasTag := members["tag"].(string)
	if hasTag {
		p.Tag = &tag
	}
	if len(p.Name)+len(tag) > 399_360 {
		return p, plant.ErrTooLarge
	}
	return p, nil
}

// check holds plant.Decode to the judgement of body, and returns the judgement.
func (j judge) check(t *testing.T, name string, body []byte) error {
	t.Helper()
	wantPlant, want := j.decode(body)
	gotPlant, got := plant.Decode(body)
	if !errors.Is(got, want) || want == nil && text(gotPlant) != text(wantPlant) {
		t.Errorf("%s: Decode(%.5000q) = %.500s, %v, want %.500s, %v", name, body, text(gotPlant), got, text(wantPlant), want)
	}
	return want
}

// text writes a plant so that two are the same text only if they are the same,
// byte for byte.
func text(p plant.NewPlant) string {
	if p.Tag == nil {
		return fmt.Sprintf("{%d %q without tag}", p.ID, p.Name)
	}
	return fmt.Sprintf("{%d %q %q}", p.ID, p.Name, *p.Tag)
}

func TestDecode(t *testing.T) {
	j := newJudge(t)
	name := func(n int) string { return strings.Repeat("n", n) }
	tests := []struct {
		name string
		body string
		want error
	}{
		{"a plant", `{"id":1,"name":"oak"}`, nil},
		{"a plant with an empty tag", `{"id":-1.0e1,"name":"\u0000","tag":""}`, nil},
		{"an exponent that math/big cannot bear", `{"id":1e999999999,"name":"oak"}`, plant.ErrInvalid},
		{"zero with such an exponent", `{"id":0e999999999,"name":"oak"}`, nil},
		{"a fraction with such an exponent", `{"id":1e-999999999,"name":"oak"}`, plant.ErrInvalid},
		{"many digits, of which the exponent leaves one", `{"id":1` + strings.Repeat("0", 2000) + `e-2000,"name":"oak"}`, nil},
		{"such an exponent elsewhere", `{"id":1,"name":"oak","x":[1e999999999]}`, nil},
		{"the largest name", `{"id":1,"name":"` + name(399_360) + `"}`, nil},
		{"a name one byte larger", `{"id":1,"name":"` + name(399_361) + `"}`, plant.ErrTooLarge},
		{"the largest name and tag", `{"id":1,"name":"` + name(399_358) + `","tag":"ä"}`, nil},
		{"a name and a tag one byte larger", `{"id":1,"name":"` + name(399_359) + `","tag":"ä"}`, plant.ErrTooLarge},
		{"a large unknown member", `{"id":1,"name":"oak","x":"` + name(399_361) + `"}`, nil},
		{"a tag that is null", `{"id":1,"name":"oak","tag":null}`, plant.ErrInvalid},
		{"no object", `"oak"`, plant.ErrInvalid},
		{"nothing", "", plant.ErrMalformed},
	}
	for _, test := range tests {
		if got := j.check(t, test.name, []byte(test.body)); !errors.Is(got, test.want) {
			t.Errorf("%s: decode(%.80q) = %v, want %v", test.name, test.body, got, test.want)
		}
	}
	for _, body := range bodies() {
		_ = j.check(t, "a body to mutate", []byte(body))
	}
}

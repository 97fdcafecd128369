package contract

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"plantstore"
	"plantstore/internal/plant"
)

// contract is what openapi.yaml says of a request's body and of answers.
type contract struct {
	body     *jsonschema.Schema
	answers  map[int]*jsonschema.Schema // by status
	messages map[int]string             // by the code of the Error
}

func loadContract(t testing.TB) contract {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	const resource = "file:///openapi.yaml" // a relative name fails in a folder with a space
	if err := compiler.AddResource(resource, document()); err != nil {
		t.Fatal(err)
	}
	schema := func(of string) *jsonschema.Schema {
		compiled, err := compiler.Compile(resource + "#/paths/~1plants/post/" + of + "/content/application~1json/schema")
		if err != nil {
			t.Fatal(err)
		}
		return compiled
	}
	c := contract{
		body:     schema("requestBody"),
		answers:  map[int]*jsonschema.Schema{200: schema("responses/200"), 400: schema("responses/400")},
		messages: map[int]string{},
	}
	codes, _ := at(document(), "components.schemas.Error.properties.error.oneOf").([]any)
	for _, code := range codes {
		number, _ := at(code, "const").(int)
		c.messages[number], _ = at(code, "description").(string)
	}
	return c
}

// judge returns the plant in body, or the code of the Error that body must get. It is the oracle for plant.Decode, with
// which it shares no code.
func (c contract) judge(body []byte) (p plant.NewPlant, code int) {
	if len(body) == 0 {
		return p, 1002
	}
	if !utf8.Valid(body) || !json.Valid(body) || slices.ContainsFunc(escapes.FindAllSubmatch(body, -1), isHalf) {
		return p, 1003
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.UseNumber()
	value, ok := read(decoder)
	if !ok {
		return p, 1003
	}
	if c.body.Validate(value) != nil {
		return p, 1004
	}
	members, _ := value.(map[string]any)
	id, _ := new(big.Rat).SetString(fmt.Sprint(members["id"]))
	known, size := map[string]any{}, 0
	for _, name := range membersOfType("") {
		if member, present := members[name]; present {
			known[name] = member
		}
		text, _ := members[name].(string)
		size += len(text)
	}
	if size > plant.MaxSize {
		return p, 1005
	}
	known["id"] = id.Num()
	content, _ := json.Marshal(known)
	_ = json.Unmarshal(content, &p) // TestMembers checks that p has every member
	return p, 0
}

// document returns openapi.yaml.
func document() (parsed map[string]any) {
	if err := yaml.Unmarshal(plantstore.OpenAPI, &parsed); err != nil {
		panic(err)
	}
	return parsed
}

// membersOfType returns the names of those members of a NewPlant in openapi.yaml that have a type, and of all for "".
func membersOfType(of string) (names []string) {
	properties, _ := at(document(), "components.schemas.NewPlant.properties").(map[string]any)
	for name, property := range properties {
		if of == "" || at(property, "type") == of {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// escapes matches what may not be taken for half of a surrogate pair, and in its group such a half.
var escapes = regexp.MustCompile(`(?i)\\(?:[^u]|ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2}|(ud[89a-f]))`)

func isHalf(escape [][]byte) bool { return escape[1] != nil }

// read returns the next value of valid JSON. It reports false if an object has a name twice.
func read(d *json.Decoder) (any, bool) {
	token, _ := d.Token()
	isObject, elements, members := token == json.Delim('{'), []any{}, map[string]any{}
	if literal, ok := token.(json.Number); ok {
		return bounded(string(literal)), true
	} else if !isObject && token != json.Delim('[') {
		return token, true
	}
	for d.More() {
		var name any = len(elements)
		if isObject {
			name, _ = d.Token()
		}
		value, ok := read(d)
		key := fmt.Sprint(name)
		if _, duplicate := members[key]; duplicate || !ok {
			return nil, false
		}
		members[key], elements = value, append(elements, value)
	}
	if _, _ = d.Token(); isObject {
		return members, true
	}
	return elements, true
}

// bounded returns the number with an exponent that math/big, which the schema's validator uses, can bear. A larger
// exponent leaves a number out of the range of 64 bits or a fraction, as it is.
func bounded(literal string) json.Number {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	power, _ := strconv.Atoi(exponent) // the nearest int if it is none, and 0 for ""
	limit := len(mantissa) + 20        // 10^20 is beyond 64 bits
	return json.Number(fmt.Sprintf("%se%d", mantissa, max(-limit, min(limit, power))))
}

// membersOf returns the members of the JSON object that p must become.
func membersOf(p plant.Plant) (members map[string]any) {
	content, _ := json.Marshal(p)
	_ = json.Unmarshal(content, &members) // TestMembers checks the names
	return members
}

// text writes a plant without pointers.
func text(p plant.NewPlant) string { return fmt.Sprintf("%d %.300q", p.ID, membersOf(p.Plant)) }

package plant

import (
	"reflect"
	"strings"
	"testing"
)

// TestSchemathesis, in test/contract, compares the service with the schema in openapi.yaml.
func TestDecode(t *testing.T) {
	empty, umlaut := "", "ä"
	fern := NewPlant{ID: 1, Plant: Plant{Name: "fern"}}
	escaped := NewPlant{ID: 1, Plant: Plant{Name: "🌱\x00/"}}
	longest := strings.Repeat("n", MaxSize-len(umlaut))
	tests := []struct {
		name string
		body string
		want NewPlant
	}{
		{"no tag, and white space", ` { "name" : "fern" , "id" : 1 } ` + "\t\r\n", fern},
		{"an empty tag", `{"id":1,"name":"fern","tag":""}`, NewPlant{ID: 1, Plant: Plant{Name: "fern", Tag: &empty}}},
		{"escapes in a name and a value", `{"id":1,"n\u0061me":"\ud83c\udf31\u0000\/"}`, escaped},
		{"unknown members", `{"id":1,"name":"fern","ID":"x","Name":null,"x":{"y":[1,{"z":2}]}}`, fern},
		{"a large unknown member", `{"id":1,"name":"fern","x":"` + strings.Repeat("n", MaxSize) + `"}`, fern},
		{"the deepest nesting", `{"id":1,"name":"fern","x":` + nested(9_999) + `}`, fern},
		{"an integer with an exponent", `{"id":-1.20e1,"name":"fern"}`, NewPlant{ID: -12, Plant: Plant{Name: "fern"}}},
		{"the largest body", fernIn(MaxBody), fern},
		{
			"a name of the largest size, in escapes",
			`{"id":1,"name":"` + strings.Repeat(`\u006e`, MaxSize) + `"}`,
			NewPlant{ID: 1, Plant: Plant{Name: strings.Repeat("n", MaxSize)}},
		},
		{
			"a name and a tag of the largest size together",
			`{"id":1,"name":"` + longest + `","tag":"` + umlaut + `"}`,
			NewPlant{ID: 1, Plant: Plant{Name: longest, Tag: &umlaut}},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Decode([]byte(test.body))
			if err != nil {
				t.Fatalf("Decode(%.80q) = %v, want a plant", test.body, err)
			}
			if !reflect.DeepEqual(got, test.want) {
				t.Errorf("Decode(%.80q) = %+v, want %+v", test.body, got, test.want)
			}
		})
	}
}

// fernIn returns a body of this many bytes, filled with white space.
func fernIn(size int) string {
	const body = `{"id":1,"name":"fern"}`
	return body + strings.Repeat(" ", size-len(body))
}

// nested returns an array of arrays, this many levels deep.
func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// The rows have three groups, for the three errors:
//   - A body that two parsers may read differently is malformed, wherever in the body the difference is.
//   - For an invalid body, the error says what is wrong with each member.
//   - The size of a plant is that of all its texts together, in bytes. The size of a body is checked before the
//     body is read.
func TestDecodeRefuses(t *testing.T) {
	mustBeObject := &InvalidError{Reason: "it must be an object"}
	idNoInteger := &InvalidError{Reason: "id must be an integer"}
	const umlaut = "ä"
	tests := []struct {
		name string
		body string
		want error
	}{
		{"only white space", " \n", ErrMalformed},
		{"half an object, with an invalid member", `{"id":"x","name":"fern"`, ErrMalformed},
		{"two objects", `{"id":1,"name":"fern"}{"id":2,"name":"fern"}`, ErrMalformed},
		{"a byte order mark", "\uFEFF" + `{"id":1,"name":"fern"}`, ErrMalformed},
		{"an unknown member that is malformed", `{"id":1,"name":"fern","x":[1,]}`, ErrMalformed},
		{"a name twice, once with an escape", `{"id":1,"name":"fern","t\u0061g":"","tag":""}`, ErrMalformed},
		{"a name twice in an unknown member", `{"id":1,"name":"fern","x":{"y":1,"y":1}}`, ErrMalformed},
		{"half a surrogate pair in an unknown member", `{"id":1,"name":"fern","x":"\ud83c"}`, ErrMalformed},
		{"a byte that is not UTF-8", `{"id":1,"name":"` + "\xff" + `"}`, ErrMalformed},
		{"one level too deep", `{"id":1,"name":"fern","x":` + nested(10_000) + `}`, ErrMalformed},

		{"null", `null`, mustBeObject},
		{"a plant in an array", `[{"id":1,"name":"fern"}]`, mustBeObject},
		{"names in another case", `{"ID":1,"Name":"fern"}`, &InvalidError{Reason: "id is required; name is required"}},
		{"an id in quotes", `{"id":"1","name":"fern"}`, idNoInteger},
		{
			"an id out of range", `{"id":1e19,"name":"fern"}`,
			&InvalidError{Reason: "id must be from -9223372036854775808 to 9223372036854775807"},
		},
		{"a tag null", `{"id":1,"name":"fern","tag":null}`, &InvalidError{Reason: "tag must be a string"}},
		{"an invalid id, and a text that is too large", `{"id":null,"name":"` + strings.Repeat("n", MaxSize+1) + `"}`, idNoInteger},
		{
			"every member invalid", `{"id":1.5,"name":1,"tag":2}`,
			&InvalidError{Reason: "id must be an integer; name must be a string; tag must be a string"},
		},

		{
			"a name and a tag that are one byte too large",
			`{"id":1,"name":"` + strings.Repeat("n", MaxSize-len(umlaut)+1) + `","tag":"` + umlaut + `"}`,
			ErrTooLarge,
		},
		{"a body that is too large, and malformed", strings.Repeat(" ", MaxBody+1), ErrTooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Decode([]byte(test.body))
			if !reflect.DeepEqual(err, test.want) {
				t.Errorf("Decode(%.80q) = %+v, %v, want %v", test.body, got, err, test.want)
			}
		})
	}
}

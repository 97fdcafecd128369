package plant

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// TestSchemathesis, in test/contract, compares the service with the schema in openapi.yaml.
func TestDecode(t *testing.T) {
	empty, indoor, umlaut := "", "indoor", "ä"
	fern := NewPlant{ID: 1, Plant: Plant{Name: "fern"}}
	escaped := NewPlant{ID: 1, Plant: Plant{Name: "🌱\x00/"}}
	longest := strings.Repeat("n", MaxSize-len(umlaut))
	tests := []struct {
		name string
		body string
		want NewPlant
	}{
		{"no tag", `{"id":1,"name":"fern"}`, fern},
		{"white space", ` { "name" : "fern" , "id" : 1 } ` + "\t\r\n", fern},
		{"a tag", `{"id":1,"name":"fern","tag":"indoor"}`, NewPlant{ID: 1, Plant: Plant{Name: "fern", Tag: &indoor}}},
		{"an empty tag", `{"id":1,"name":"fern","tag":""}`, NewPlant{ID: 1, Plant: Plant{Name: "fern", Tag: &empty}}},
		{"escapes in a name and a value", `{"id":1,"n\u0061me":"\ud83c\udf31\u0000\/"}`, escaped},
		{"unknown members", `{"id":1,"name":"fern","ID":"x","Name":null,"x":{"y":[1,{"z":2}]}}`, fern},
		{"a large unknown member", `{"id":1,"name":"fern","x":"` + strings.Repeat("n", MaxSize) + `"}`, fern},
		{"the deepest nesting", `{"id":1,"name":"fern","x":` + nested(9_999) + `}`, fern},
		{"an integer with an exponent", `{"id":-1.20e1,"name":"fern"}`, NewPlant{ID: -12, Plant: Plant{Name: "fern"}}},
		{"the largest body", fernIn(MaxBody), fern},
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

// A body that two parsers may read differently is malformed, wherever in the body the difference is.
func TestDecodeMalformed(t *testing.T) {
	tests := []struct{ name, body string }{
		{"only white space", " \n"},
		{"half an object, with an invalid member", `{"id":"x","name":"fern"`},
		{"two objects", `{"id":1,"name":"fern"}{"id":2,"name":"fern"}`},
		{"a byte order mark", "\uFEFF" + `{"id":1,"name":"fern"}`},
		{"an unknown member that is malformed", `{"id":1,"name":"fern","x":[1,]}`},
		{"a name twice", `{"id":1,"id":1,"name":"fern"}`},
		{"a name twice, once with an escape", `{"id":1,"name":"fern","t\u0061g":"","tag":""}`},
		{"a name twice in an unknown member", `{"id":1,"name":"fern","x":{"y":1,"y":1}}`},
		{"half a surrogate pair", `{"id":1,"name":"\ud800"}`},
		{"half a surrogate pair in an unknown member", `{"id":1,"name":"fern","x":"\ud83c"}`},
		{"a byte that is not UTF-8", `{"id":1,"name":"` + "\xff" + `"}`},
		{"one level too deep", `{"id":1,"name":"fern","x":` + nested(10_000) + `}`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Decode([]byte(test.body))
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("Decode(%.80q) = %+v, %v, want %v", test.body, got, err, ErrMalformed)
			}
		})
	}
}

// The error says what is wrong with each member.
func TestDecodeInvalid(t *testing.T) {
	const (
		notInteger = "id must be an integer"
		outOfRange = "id must be from -9223372036854775808 to 9223372036854775807"
	)
	large := strings.Repeat("n", MaxSize+1)
	tests := []struct {
		name   string
		body   string
		reason string
	}{
		{"null", `null`, "it must be an object"},
		{"a plant in an array", `[{"id":1,"name":"fern"}]`, "it must be an object"},
		{"names in another case", `{"ID":1,"Name":"fern"}`, "id is required; name is required"},
		{"an id null", `{"id":null,"name":"fern"}`, notInteger},
		{"an id in quotes", `{"id":"1","name":"fern"}`, notInteger},
		{"an id with a fraction", `{"id":1.5,"name":"fern"}`, notInteger},
		{"an id out of range", `{"id":1e19,"name":"fern"}`, outOfRange},
		{"a tag null", `{"id":1,"name":"fern","tag":null}`, "tag must be a string"},
		{"an invalid id, and a text that is too large", `{"id":null,"name":"` + large + `"}`, notInteger},
		{
			"every member invalid", `{"id":1.5,"name":1,"tag":2}`,
			"id must be an integer; name must be a string; tag must be a string",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decode([]byte(test.body))
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("Decode(%.80q) = %v, want %v", test.body, err, ErrInvalid)
			}
			invalid, ok := errors.AsType[*InvalidError](err)
			if !ok || invalid.Reason != test.reason {
				t.Errorf("Decode(%.80q) = %v, want the reason %q", test.body, err, test.reason)
			}
		})
	}
}

// A plant has the size of all its texts together, in bytes. The size of a body is checked before the
// body is read.
func TestDecodeTooLarge(t *testing.T) {
	const tag = "ä"
	tests := []struct{ name, body string }{
		{"a name and a tag that are one byte too large", `{"id":1,"name":"` + strings.Repeat("n", MaxSize-len(tag)+1) + `","tag":"` + tag + `"}`},
		{"a body that is one byte too large", fernIn(MaxBody + 1)},
		{"a body that is too large, and malformed", strings.Repeat(" ", MaxBody+1)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decode([]byte(test.body))
			if !errors.Is(err, ErrTooLarge) {
				t.Errorf("Decode = %v, want %v", err, ErrTooLarge)
			}
		})
	}
}

package plant

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// Rows about JSON's syntax are few here: test/contract runs JSONTestSuite.
func TestDecode(t *testing.T) {
	malformed, invalid, tooLarge := ErrMalformed.Error(), ErrInvalid.Error()+": ", ErrTooLarge.Error()
	oak := `{"id":1,"name":"oak"}`
	nested := func(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }
	tests := []struct {
		name string
		body string
		want string // the plant in JSON, or the text of the error
	}{
		{"no tag, and white space", ` { "name" : "oak" , "id" : 1 } ` + "\t\r\n", oak},
		{"a tag", `{"id":1,"name":"oak","tag":"fern"}`, `{"id":1,"name":"oak","tag":"fern"}`},
		{"an empty tag", `{"id":1,"name":"oak","tag":""}`, `{"id":1,"name":"oak","tag":""}`},
		{"unknown members", `{"id":1,"name":"oak","ID":"x","Name":null,"x":{"y":[1,{"z":2}]}}`, oak},
		{"escapes in names", `{"\u0069d":1,"n\u0061me":"oak"}`, oak},
		{"escapes in values", `{"id":1,"name":"\u00e4\n\u0000\ud83c\udf31"}`, `{"id":1,"name":"ä\n\u0000🌱"}`},
		{"empty texts", `{"id":1,"name":"","tag":""}`, `{"id":1,"name":"","tag":""}`},
		{"the replacement character", `{"id":1,"name":"` + "\uFFFD" + `"}`, `{"id":1,"name":"` + "\uFFFD" + `"}`},
		{"an integer with an exponent", `{"id":-1.20e1,"name":"oak"}`, `{"id":-12,"name":"oak"}`},
		{"the deepest nesting", `{"id":1,"name":"oak","x":` + nested(9999) + `}`, oak},

		{"half an object", `{"id":1,"name":"oak"`, malformed},
		{"something after the value", `{"id":1,"name":"oak"}{}`, malformed},
		{"something after an array", `[]x`, malformed},
		{"a byte order mark", "\uFEFF" + oak, malformed},
		{"a duplicate name", `{"id":1,"id":1,"name":"oak"}`, malformed},
		{"a duplicate name with an escape", `{"id":1,"\u0069d":1,"name":"oak"}`, malformed},
		{"a duplicate unknown name", `{"id":1,"name":"oak","x":[{"y":1,"y":2}]}`, malformed},
		{"invalid UTF-8", `{"id":1,"name":"` + "\xff" + `"}`, malformed},
		{"invalid UTF-8 in an unknown member", `{"id":1,"name":"oak","x":"` + "\xc0\x80" + `"}`, malformed},
		{"a lone high surrogate", `{"id":1,"name":"\ud83c"}`, malformed},
		{"a lone low surrogate in a name", `{"id":1,"name":"oak","\udf31":1}`, malformed},
		{"nesting too deep", `{"id":1,"name":"oak","x":` + nested(10_000) + `}`, malformed},

		{"null", `null`, invalid + "it must be an object"},
		{"an array", `[{"id":1,"name":"oak"}]`, invalid + "it must be an object"},
		{"names in another case", `{"ID":1,"Name":"oak"}`, invalid + "id is required; name is required"},
		{"id null", `{"id":null,"name":"oak"}`, invalid + "id must be an integer"},
		{"id a string", `{"id":"1","name":"oak"}`, invalid + "id must be an integer"},
		{"id a fraction", `{"id":1.5,"name":"oak"}`, invalid + "id must be an integer"},
		{"id out of range", `{"id":1e19,"name":"oak"}`, invalid + "id " + errRange.Error()},
		{"no name", `{"id":1}`, invalid + "name is required"},
		{"name null", `{"id":1,"name":null}`, invalid + "name must be a string"},
		{"name a number", `{"id":1,"name":1}`, invalid + "name must be a string"},
		{"every member", `{"id":1.5,"name":1,"tag":2}`, invalid + "id must be an integer; name must be a string; tag must be a string"},
		{"tag null", `{"id":1,"name":"oak","tag":null}`, invalid + "tag must be a string"},

		{"the largest name", plantJSON(MaxSize, ""), plantJSON(MaxSize, "")},
		{"the largest name and tag", plantJSON(MaxSize-2, "ä"), plantJSON(MaxSize-2, "ä")},
		{"a name one byte too large", plantJSON(MaxSize+1, ""), tooLarge},
		{"a name and a tag one byte too large", plantJSON(MaxSize-1, "ä"), tooLarge},
	}
	for _, test := range tests {
		p, err := Decode([]byte(test.body))
		got, _ := json.Marshal(p) // a NewPlant always has a JSON form
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != test.want || errors.Is(err, ErrInvalid) != strings.HasPrefix(test.want, invalid) {
			t.Errorf("%s: Decode(%.80q) = %.80s, want %.80s", test.name, test.body, got, test.want)
		}
	}
}

// plantJSON returns a plant with a name of length bytes.
func plantJSON(length int, tag string) string {
	return `{"id":1,"name":"` + strings.Repeat("n", length) + `","tag":"` + tag + `"}`
}

package plant

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// The rows about JSON's syntax and the types of members are in test/contract.
func TestDecode(t *testing.T) {
	malformed, invalid, tooLarge := ErrMalformed.Error(), ErrInvalid.Error()+": ", ErrTooLarge.Error()
	oak := `{"id":1,"name":"oak"}`
	sized := func(size int) string { return `{"id":1,"name":"` + strings.Repeat("n", size-2) + `","tag":"ä"}` }
	tests := []struct {
		name string
		body string
		want string // the plant in JSON, or the text of the error
	}{
		{"no tag, and white space", ` { "name" : "oak" , "id" : 1 } ` + "\t\r\n", oak},
		{"a tag", `{"id":1,"name":"oak","tag":"fern"}`, `{"id":1,"name":"oak","tag":"fern"}`},
		{"an empty tag", `{"id":1,"name":"oak","tag":""}`, `{"id":1,"name":"oak","tag":""}`},
		{"unknown members", `{"id":1,"name":"oak","ID":"x","Name":null,"x":{"y":[1,{"z":2}]}}`, oak},
		{"an integer with an exponent", `{"id":-1.20e1,"name":"oak"}`, `{"id":-12,"name":"oak"}`},

		{"half an object", `{"id":1,"name":"oak"`, malformed},

		{"null", `null`, invalid + "it must be an object"},
		{"names in another case", `{"ID":1,"Name":"oak"}`, invalid + "id is required; name is required"},
		{"id a fraction", `{"id":1.5,"name":"oak"}`, invalid + "id must be an integer"},
		{"id out of range", `{"id":1e19,"name":"oak"}`, invalid + "id " + errRange.Error()},
		{"every member", `{"id":1.5,"name":1,"tag":2}`, invalid + "id must be an integer; name must be a string; tag must be a string"},
		{"tag null", `{"id":1,"name":"oak","tag":null}`, invalid + "tag must be a string"},

		{"the largest name and tag", sized(MaxSize), sized(MaxSize)},
		{"a name and a tag one byte too large", sized(MaxSize + 1), tooLarge},
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

package plant

import (
	"errors"
	"reflect"
	"strings"
	"testing"
)

// The rows about JSON's syntax and the types of members are in test/contract.
func TestDecode(t *testing.T) {
	empty, indoor, umlaut := "", "indoor", "ä"
	fern := NewPlant{ID: 1, Plant: Plant{Name: "fern"}}
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
		{"an escaped character", `{"id":1,"n\u0061me":"fern"}`, fern},
		{"unknown members", `{"id":1,"name":"fern","ID":"x","Name":null,"x":{"y":[1,{"z":2}]}}`, fern},
		{"an integer with an exponent", `{"id":-1.20e1,"name":"fern"}`, NewPlant{ID: -12, Plant: Plant{Name: "fern"}}},
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
				t.Errorf("Decode(%.80q) = %.80v, want %.80v", test.body, got, test.want)
			}
		})
	}
}

// The error says what is wrong with each member.
func TestDecodeInvalid(t *testing.T) {
	tests := []struct {
		name   string
		body   string
		reason string
	}{
		{"null", `null`, "it must be an object"},
		{"names in another case", `{"ID":1,"Name":"fern"}`, "id is required; name is required"},
		{"an id with a fraction", `{"id":1.5,"name":"fern"}`, "id must be an integer"},
		{"an id out of range", `{"id":1e19,"name":"fern"}`, "id must be from -9223372036854775808 to 9223372036854775807"},
		{"a tag that is null", `{"id":1,"name":"fern","tag":null}`, "tag must be a string"},
		{
			"every member invalid", `{"id":1.5,"name":1,"tag":2}`,
			"id must be an integer; name must be a string; tag must be a string",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Decode([]byte(test.body))
			if !errors.Is(err, ErrInvalid) {
				t.Fatalf("Decode(%q) = %v, want %v", test.body, err, ErrInvalid)
			}
			invalid, ok := errors.AsType[*InvalidError](err)
			if !ok || invalid.Reason != test.reason {
				t.Errorf("Decode(%q) = %v, want the reason %q", test.body, err, test.reason)
			}
		})
	}
}

func TestDecodeHalfAnObject(t *testing.T) {
	const body = `{"id":1,"name":"fern"`
	_, err := Decode([]byte(body))
	if !errors.Is(err, ErrMalformed) {
		t.Errorf("Decode(%q) = %v, want %v", body, err, ErrMalformed)
	}
}

// The size is that of all texts together, in bytes.
func TestDecodeOneByteTooLarge(t *testing.T) {
	const tag = "ä"
	body := `{"id":1,"name":"` + strings.Repeat("n", MaxSize-len(tag)+1) + `","tag":"` + tag + `"}`
	_, err := Decode([]byte(body))
	if !errors.Is(err, ErrTooLarge) {
		t.Errorf("Decode of a name and a tag that are one byte too large = %v, want %v", err, ErrTooLarge)
	}
}

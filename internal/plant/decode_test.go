package plant

import (
	"errors"
	"strings"
	"testing"
)

func TestDecode(t *testing.T) {
	empty, tag := "", "fern"
	tests := []struct {
		name string
		body string
		want NewPlant
	}{
		{"id and name", `{"id":1,"name":"oak"}`, NewPlant{ID: 1, Plant: Plant{Name: "oak"}}},
		{"a tag", `{"id":1,"name":"oak","tag":"fern"}`, NewPlant{ID: 1, Plant: Plant{Name: "oak", Tag: &tag}}},
		{"an empty tag", `{"id":1,"name":"oak","tag":""}`, NewPlant{ID: 1, Plant: Plant{Name: "oak", Tag: &empty}}},
		{"members in another order", `{"tag":"fern","name":"oak","id":1}`, NewPlant{ID: 1, Plant: Plant{Name: "oak", Tag: &tag}}},
		{"white space around all", " \t\r\n{ \"id\" : 1 , \"name\" : \"oak\" } \n", NewPlant{ID: 1, Plant: Plant{Name: "oak"}}},
		{"unknown members", `{"id":1,"name":"oak","ID":"x","Name":null,"x":{"y":[1,{"z":2}]}}`, NewPlant{ID: 1, Plant: Plant{Name: "oak"}}},
		{"escapes in names", `{"\u0069d":1,"n\u0061me":"oak"}`, NewPlant{ID: 1, Plant: Plant{Name: "oak"}}},
		{"escapes in values", `{"id":1,"name":"\u00e4\n\u0000\ud83c\udf31"}`, NewPlant{ID: 1, Plant: Plant{Name: "ä\n\x00🌱"}}},
		{"white space as a name", `{"id":1,"name":" "}`, NewPlant{ID: 1, Plant: Plant{Name: " "}}},
		{"the replacement character itself", "{\"id\":1,\"name\":\"\uFFFD\"}", NewPlant{ID: 1, Plant: Plant{Name: "\uFFFD"}}},
		{"an integer as a decimal", `{"id":1.0,"name":"oak"}`, NewPlant{ID: 1, Plant: Plant{Name: "oak"}}},
		{"an integer with an exponent", `{"id":1e3,"name":"oak"}`, NewPlant{ID: 1000, Plant: Plant{Name: "oak"}}},
		{"the largest plant", `{"id":1,"tag":"","name":"` + strings.Repeat("n", MaxSize) + `"}`, NewPlant{ID: 1, Plant: Plant{Name: strings.Repeat("n", MaxSize), Tag: &empty}}},
		{"nesting as deep as is read", `{"id":1,"name":"oak","x":` + nested(9999) + `}`, NewPlant{ID: 1, Plant: Plant{Name: "oak"}}},
	}
	for _, test := range tests {
		if got, err := Decode([]byte(test.body)); err != nil || !got.Equal(test.want) {
			t.Errorf("%s: Decode(%.80q) = %+v, %v, want %+v", test.name, test.body, got, err, test.want)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	tests := []struct {
		name string
		body string
		want string // the error's text
	}{
		{"nothing", "", "plant: not well-formed JSON"},
		{"white space alone", " \n", "plant: not well-formed JSON"},
		{"half an object", `{"id":1,"name":"oak"`, "plant: not well-formed JSON"},
		{"something after the value", `{"id":1,"name":"oak"}{}`, "plant: not well-formed JSON"},
		{"something after a value of another type", `[]x`, "plant: not well-formed JSON"},
		{"a byte order mark", "\uFEFF" + `{"id":1,"name":"oak"}`, "plant: not well-formed JSON"},
		{"a comment", `{"id":1,/**/"name":"oak"}`, "plant: not well-formed JSON"},
		{"single quotes", `{'id':1,'name':'oak'}`, "plant: not well-formed JSON"},
		{"a comma at the end", `{"id":1,"name":"oak",}`, "plant: not well-formed JSON"},
		{"a duplicate name", `{"id":1,"id":1,"name":"oak"}`, "plant: not well-formed JSON"},
		{"a duplicate name by an escape", `{"id":1,"\u0069d":1,"name":"oak"}`, "plant: not well-formed JSON"},
		{"a duplicate name of an unknown member", `{"id":1,"name":"oak","x":1,"x":1}`, "plant: not well-formed JSON"},
		{"a duplicate name within", `{"id":1,"name":"oak","x":[{"y":1,"y":2}]}`, "plant: not well-formed JSON"},
		{"invalid UTF-8", "{\"id\":1,\"name\":\"\xff\"}", "plant: not well-formed JSON"},
		{"invalid UTF-8 in an unknown member", "{\"id\":1,\"name\":\"oak\",\"x\":\"\xc0\x80\"}", "plant: not well-formed JSON"},
		{"a lone high surrogate", `{"id":1,"name":"\ud83c"}`, "plant: not well-formed JSON"},
		{"a lone low surrogate", `{"id":1,"name":"\udf31"}`, "plant: not well-formed JSON"},
		{"a lone surrogate in a name", `{"id":1,"name":"oak","\ud800":1}`, "plant: not well-formed JSON"},
		{"a control character", "{\"id\":1,\"name\":\"a\nb\"}", "plant: not well-formed JSON"},
		{"a leading zero", `{"id":01,"name":"oak"}`, "plant: not well-formed JSON"},
		{"a plus sign", `{"id":+1,"name":"oak"}`, "plant: not well-formed JSON"},
		{"a bare decimal point", `{"id":1.,"name":"oak"}`, "plant: not well-formed JSON"},
		{"hexadecimal", `{"id":0x1,"name":"oak"}`, "plant: not well-formed JSON"},
		{"NaN", `{"id":NaN,"name":"oak"}`, "plant: not well-formed JSON"},
		{"malformed after a mistyped member", `{"id":"1","name":"oak"`, "plant: not well-formed JSON"},
		{"nesting deeper than is read", `{"id":1,"name":"oak","x":` + nested(10000) + `}`, "plant: not well-formed JSON"},

		{"null", `null`, "plant: not a NewPlant: it must be an object"},
		{"an array", `[{"id":1,"name":"oak"}]`, "plant: not a NewPlant: it must be an object"},
		{"a number", `1`, "plant: not a NewPlant: it must be an object"},
		{"a string", `"oak"`, "plant: not a NewPlant: it must be an object"},
		{"an empty object", `{}`, "plant: not a NewPlant: id is required"},
		{"names in another case", `{"ID":1,"Name":"oak"}`, "plant: not a NewPlant: id is required"},
		{"null as id", `{"id":null,"name":"oak"}`, "plant: not a NewPlant: id must be an integer"},
		{"a string as id", `{"id":"1","name":"oak"}`, "plant: not a NewPlant: id must be an integer"},
		{"true as id", `{"id":true,"name":"oak"}`, "plant: not a NewPlant: id must be an integer"},
		{"an object as id", `{"id":{},"name":"oak"}`, "plant: not a NewPlant: id must be an integer"},
		{"a fraction as id", `{"id":1.5,"name":"oak"}`, "plant: not a NewPlant: id must be an integer"},
		{"an id over the range", `{"id":9223372036854775808,"name":"oak"}`, "plant: not a NewPlant: id must be from -9223372036854775808 to 9223372036854775807"},
		{"an id under the range", `{"id":-9223372036854775809,"name":"oak"}`, "plant: not a NewPlant: id must be from -9223372036854775808 to 9223372036854775807"},
		{"no name", `{"id":1}`, "plant: not a NewPlant: name is required"},
		{"null as name", `{"id":1,"name":null}`, "plant: not a NewPlant: name must be a string"},
		{"a number as name", `{"id":1,"name":1}`, "plant: not a NewPlant: name must be a string"},
		{"an empty name", `{"id":1,"name":""}`, "plant: not a NewPlant: name must have at least one character"},
		{"null as tag", `{"id":1,"name":"oak","tag":null}`, "plant: not a NewPlant: tag must be a string"},
		{"an array as tag", `{"id":1,"name":"oak","tag":["x"]}`, "plant: not a NewPlant: tag must be a string"},

		{"a name one byte too large", `{"id":1,"name":"` + strings.Repeat("n", MaxSize+1) + `"}`, "plant: too large to store"},
		{"name and tag together too large", `{"id":1,"name":"n","tag":"` + strings.Repeat("t", MaxSize) + `"}`, "plant: too large to store"},
		{"too large in bytes, not in characters", `{"id":1,"name":"` + strings.Repeat("ä", MaxSize/2) + `","tag":"t"}`, "plant: too large to store"},
	}
	for _, test := range tests {
		got, err := Decode([]byte(test.body))
		if err == nil || err.Error() != test.want {
			t.Errorf("%s: Decode(%.80q) = %+v, %v, want error %q", test.name, test.body, got, err, test.want)
		}
		if !errors.Is(err, ErrMalformed) && !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTooLarge) {
			t.Errorf("%s: Decode(%.80q) = %v, which is no error of this package", test.name, test.body, err)
		}
	}
}

func nested(depth int) string {
	return strings.Repeat("[", depth) + strings.Repeat("]", depth)
}

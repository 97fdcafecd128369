package plant

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

// decoded returns the plant in a body as text, or the error.
func decoded(body string) string {
	p, err := Decode([]byte(body))
	switch {
	case err != nil:
		return err.Error()
	case p.Tag == nil:
		return fmt.Sprintf("%d %q", p.ID, p.Name)
	}
	return fmt.Sprintf("%d %q tag %q", p.ID, p.Name, *p.Tag)
}

type decodeTest struct {
	name, body string
	want       string // the plant or the error, as decoded returns it
}

// decodeTests returns the unusual bodies; the conversations in test/contract cover the usual ones. A body that two parsers
// may read differently is malformed, even if only in an unknown member. The error names every invalid member.
func decodeTests() []decodeTest {
	const (
		malformed = "plant: not well-formed JSON: "
		invalid   = "plant: not a NewPlant: "
		tooLarge  = "plant: too large to store"
		hint      = " after byte 0, so the body may be compressed or have a byte order mark"
	)
	n := strings.Repeat("n", MaxText)
	nested := func(depth int) string {
		return `{"id":1,"name":"fern","x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
	}
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	return []decodeTest{
		{"no tag, and white space", ` { "name" : "fern" , "id" : 1 } ` + "\t\r\n", `1 "fern"`},
		{"an empty tag", `{"id":1,"name":"fern","tag":""}`, `1 "fern" tag ""`},
		{"escapes in a name and a value", `{"id":1,"n\u0061me":"\ud83c\udf31\u0000\/\u007f"}`, `1 "🌱\x00/\x7f"`},
		{"a large unknown member", `{"id":1,"name":"fern","x":"` + n + `"}`, `1 "fern"`},
		{"the deepest nesting", nested(9_999), `1 "fern"`},
		{"the largest body", padded(`{"id":1,"name":"fern"}`, MaxBody), `1 "fern"`},
		{"a name of the largest size, in escapes", `{"id":1,"name":"` + strings.Repeat(`\u006e`, MaxText) + `"}`, `1 "` + n + `"`},
		{
			"a name and a tag of the maximum total size", `{"id":1,"name":"` + n[2:] + `","tag":"ä"}`,
			`1 "` + n[2:] + `" tag "ä"`,
		},

		{"only white space", " \n", malformed + "there is an error after byte 2"},
		{"a truncated object, with an invalid member", `{"id":"x","name":"fern"`, malformed + "there is an error after byte 23"},
		{"a malformed unknown member", `{"id":1,"name":"fern","x":[1,]}`, malformed + "there is an error after byte 28"},
		{"a malformed array", `[1,]`, malformed + "there is an error after byte 3"},
		{"two values", `null {}`, malformed + "there is an error after byte 5"},
		{"a NUL after the object", `{"id":1,"name":"fern"}` + "\x00", malformed + "there is an error after byte 22"},
		{"plain text", "~1", malformed + "there is an error after byte 0"},
		{"a byte order mark", "\uFEFF{}", malformed + "there is an error" + hint},
		{"gzip", "\x1f\x8b\x08\x00", malformed + "there is an error" + hint},
		{"UTF-16", "\xff\xfe{\x00}\x00", malformed + "there is invalid UTF-8" + hint},
		{"a name in Latin-1", `{"id":1,"name":"` + "\xe9" + `"}`, malformed + "there is invalid UTF-8 after byte 16"},
		{"a string that is not UTF-8", "\"\xff\"", malformed + "there is invalid UTF-8 after byte 1"},
		{"a duplicate name in an array", `[{"a":1,"a":2}]`, malformed + "there is a repeated name after byte 8"},
		{
			"a duplicate name, once with an escape", `{"id":1,"name":"fern","t\u0061g":"","tag":""}`,
			malformed + "there is a repeated name after byte 36",
		},
		{"half a surrogate pair", `{"id":1,"name":"\ud83c"}`, malformed + "there is an error after byte 16"},
		{"a truncated escape", `{"id":1,"name":"\ud83"}`, malformed + "there is an error after byte 16"},
		{"one level too deep", nested(10_000), malformed + "there is an error after byte 10025"},

		{"an array", "[1]", invalid + "it must be an object"},
		{"a number", "1", invalid + "it must be an object"},
		{"null", "null", invalid + "it must be an object"},
		{"an invalid id, and a name that is too large", `{"id":null,"name":"` + n + `n"}`, invalid + "id must be an integer"},
		{
			"every member invalid", `{"id":1.5,"name":1,"tag":2}`,
			invalid + "id must be an integer; name must be a string; tag must be a string",
		},

		{"a name and a tag that are one byte too large", `{"id":1,"name":"` + n[1:] + `","tag":"ä"}`, tooLarge},
		{"a malformed body that is too large", padded("", MaxBody+1), tooLarge},
	}
}

func TestDecode(t *testing.T) {
	for _, test := range decodeTests() {
		t.Run(test.name, func(t *testing.T) {
			if got := decoded(test.body); got != test.want {
				t.Errorf("Decode(%.80q) = %.80s, want %.80s", test.body, got, test.want)
			}
		})
	}
}

// Decode refuses the bodies that package jsontext refuses, and otherwise finds the name and the tag that package json finds.
// A plant that it returns can be sent again.
func FuzzDecode(f *testing.F) {
	for _, test := range decodeTests() {
		f.Add([]byte(test.body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := Decode(body)
		if malformed := errors.Is(err, ErrMalformed); len(body) <= MaxBody && malformed == jsontext.Value(body).IsValid() {
			t.Errorf("Decode(%q) = %v, and jsontext says otherwise", body, err)
		}
		if err != nil {
			return
		}
		var want Plant
		if err := json.Unmarshal(body, &want); err != nil || !reflect.DeepEqual(p.Plant, want) {
			t.Errorf("Decode(%q) = %+v, want %+v, %v", body, p, want, err)
		}
		again, err := json.Marshal(p)
		if got, decodeErr := Decode(again); err != nil || decodeErr != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("Decode(%s) = %+v, %v, want %+v", again, got, decodeErr, p)
		}
	})
}

// The largest body takes longest if it has as many members as possible, because no two names may be equal. A function with a
// seventh of a CPU needs seven times as long.
func BenchmarkDecode(b *testing.B) {
	body := []byte(`{"id":1,"name":"fern","members":{"_":0`)
	for i := int64(0); len(body) < MaxBody-12; i++ {
		body = append(body, `,"`+strconv.FormatInt(i, 36)+`":0`...)
	}
	body = append(body, "}}"...)
	for b.Loop() {
		if _, err := Decode(body); err != nil {
			b.Fatal(err)
		}
	}
}

// An id is decoded exactly, in time linear in the length of its literal.
func TestDecodeID(t *testing.T) {
	const (
		noInteger  = "id must be an integer"
		outOfRange = "id must be from -9223372036854775808 to 9223372036854775807"
	)
	million := strings.Repeat("0", 1_000_000)
	zeros := strings.Repeat("0", MaxBody-100)
	tests := []struct{ name, id, want string }{
		{"minus zero", "-0", "0"},
		{"minus zero with a negative exponent", "-0e-9", "0"},
		{"digits and zeros", "-1200", "-1200"},
		{"a fraction of zeros", "12.00", "12"},
		{"a fraction", "12.05", noInteger},
		{"an exponent that removes zeros", "1200e-2", "12"},
		{"an exponent that removes a digit", "1200E-3", noInteger},
		{"an exponent that adds zeros", "-7e+3", "-7000"},
		{"an exponent that leaves a fraction", "0.125e2", noInteger},
		{"an integer that is not a float64", "9007199254740993", "9007199254740993"},
		{"the smallest", "-9223372036854775808", "-9223372036854775808"},
		{"one less than the smallest", "-9223372036854775809", outOfRange},
		{"one more than the largest", "9223372036854775808", outOfRange},
		{"the largest power of ten", "1e18", "1000000000000000000"},
		{"the next power of ten", "1e19", outOfRange},
		{"zero with a large exponent", "0e999999999", "0"},
		{"the largest, with a fraction", "9.223372036854775807e18", "9223372036854775807"},
		{"a million zeros that the exponent removes", "1" + million + "e-1000000", "1"},
		{"as many zeros as a body can have, removed by the exponent", "1" + zeros + "e-" + fmt.Sprint(len(zeros)), "1"},
		{"a million zeros that the exponent offsets", "0." + million + "1e1000001", "1"},
		{"a million zeros", "1" + million, outOfRange},
		{"a million zeros, and a fraction", "1" + million + "e-1000001", noInteger},
		{"an exponent that is 0 in 32 bits", "1e4294967296", outOfRange},
		{"a positive exponent beyond 64 bits", "10e9999999999999999999999999", outOfRange},
		{"a negative exponent beyond 64 bits", "1e-99999999999999999999999999", noInteger},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := decoded(`{"id":` + test.id + `,"name":""}`)
			if got != test.want+` ""` && got != "plant: not a NewPlant: "+test.want {
				t.Errorf("the id %.60s is %.80s, want %s", test.id, got, test.want)
			}
		})
	}
}

package plant

import (
	"fmt"
	"strings"
	"testing"
)

// decoded returns what Decode says of a body: the plant, or the error.
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

// The conversations of test/contract have the usual bodies; these are the others. A body that two parsers may read
// differently is malformed, wherever in the body the difference is. The error says what is wrong, with each member of
// an invalid body. The size of a plant is that of its name and tag together, in bytes. The size of a body is checked
// before the body is read.
func TestDecode(t *testing.T) {
	const (
		malformed = "plant: not well-formed JSON"
		invalid   = "plant: not a NewPlant: "
		tooLarge  = "plant: too large to store"
	)
	n := strings.Repeat("n", MaxSize)
	nested := func(depth int) string {
		return `{"id":1,"name":"fern","x":` + strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}`
	}
	padded := func(body string, size int) string { return body + strings.Repeat(" ", size-len(body)) }
	tests := []struct{ name, body, want string }{
		{"no tag, and white space", ` { "name" : "fern" , "id" : 1 } ` + "\t\r\n", `1 "fern"`},
		{"an empty tag", `{"id":1,"name":"fern","tag":""}`, `1 "fern" tag ""`},
		{"escapes in a name and a value", `{"id":1,"n\u0061me":"\ud83c\udf31\u0000\/\u007f"}`, `1 "🌱\x00/\x7f"`},
		{"a large unknown member", `{"id":1,"name":"fern","x":"` + n + `"}`, `1 "fern"`},
		{"the deepest nesting", nested(9_999), `1 "fern"`},
		{"the largest body", padded(`{"id":1,"name":"fern"}`, MaxBody), `1 "fern"`},
		{"a name of the largest size, in escapes", `{"id":1,"name":"` + strings.Repeat(`\u006e`, MaxSize) + `"}`, `1 "` + n + `"`},
		{"a name and a tag of the largest size together", `{"id":1,"name":"` + n[2:] + `","tag":"ä"}`, `1 "` + n[2:] + `" tag "ä"`},

		{"only white space", " \n", malformed},
		{"half an object, with an invalid member", `{"id":"x","name":"fern"`, malformed},
		{"an unknown member that is malformed", `{"id":1,"name":"fern","x":[1,]}`, malformed},
		{"a NUL after the object", `{"id":1,"name":"fern"}` + "\x00", malformed + ": it has text after its value"},
		{"a body in gzip", "\x1f\x8b\x08\x00", malformed + ": it is compressed"},
		{"a byte that is not UTF-8", `{"id":1,"name":"` + "\xff" + `"}`, malformed + ": it is not UTF-8"},
		{"bytes that are not UTF-8 in a string", "\"\xff\"", malformed + ": it is not UTF-8"},
		{"a name twice in an array", `[{"a":1,"a":2}]`, malformed + ": a name occurs twice in an object"},
		{"a name twice, once with an escape", `{"id":1,"name":"fern","t\u0061g":"","tag":""}`, malformed + ": a name occurs twice in an object"},
		{"half a surrogate pair at the end", `{"id":1,"name":"\ud83c`, malformed + ": it has half of a surrogate pair"},
		{"half an escape at the end", `{"id":1,"name":"\ud8`, malformed},
		{"half an escape", `{"id":1,"name":"\ud83"}`, malformed},
		{"one level too deep", nested(10_000), malformed + ": it has more than 10000 levels"},

		{"an invalid id, and a text that is too large", `{"id":null,"name":"` + n + `n"}`, invalid + "id must be an integer"},
		{
			"every member invalid", `{"id":1.5,"name":1,"tag":2}`,
			invalid + "id must be an integer; name must be a string; tag must be a string",
		},

		{"a name and a tag that are one byte too large", `{"id":1,"name":"` + n[1:] + `","tag":"ä"}`, tooLarge},
		{"a body that is too large, and malformed", padded("", MaxBody+1), tooLarge},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := decoded(test.body); got != test.want {
				t.Errorf("Decode(%.80q) = %.80s, want %.80s", test.body, got, test.want)
			}
		})
	}
}

// An id is read exactly and in time, however it is written, and however long its digits and its exponent are.
func TestDecodeID(t *testing.T) {
	const (
		noInteger  = "id must be an integer"
		outOfRange = "id must be from -9223372036854775808 to 9223372036854775807"
	)
	million := strings.Repeat("0", 1_000_000)
	tests := []struct{ name, id, want string }{
		{"minus zero", "-0", "0"},
		{"minus zero with a negative exponent", "-0e-9", "0"},
		{"digits and zeros", "-1200", "-1200"},
		{"a fraction of zeros", "12.00", "12"},
		{"a fraction", "12.05", noInteger},
		{"an exponent that takes zeros away", "1200e-2", "12"},
		{"an exponent that takes a digit away", "1200E-3", noInteger},
		{"an exponent that adds zeros", "-7e+3", "-7000"},
		{"an exponent that leaves a fraction", "0.125e2", noInteger},
		{"a number that is no float64", "9007199254740993", "9007199254740993"},
		{"the smallest", "-9223372036854775808", "-9223372036854775808"},
		{"one less than the smallest", "-9223372036854775809", outOfRange},
		{"one more than the largest", "9223372036854775808", outOfRange},
		{"the largest power of ten", "1e18", "1000000000000000000"},
		{"the next power of ten", "1e19", outOfRange},
		{"zero with a large exponent", "0e999999999", "0"},
		{"the largest, with a fraction", "9.223372036854775807e18", "9223372036854775807"},
		{"a million zeros that the exponent takes away", "1" + million + "e-1000000", "1"},
		{"a million zeros that the exponent makes up for", "0." + million + "1e1000001", "1"},
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

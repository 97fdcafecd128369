package judge

import (
	"encoding/json" // for the type json.Number alone: nothing here is decoded by it
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"
)

// maxDepth is how many arrays and objects may be within each other.
const maxDepth = 10_000

// read returns the value that body holds, if it is well-formed as openapi.yaml
// and docs/decisions.md have it: one value by the grammar of RFC 8259, in valid UTF-8,
// without a byte order mark, without lone surrogates, and without names that are
// the same once their escapes are read. Numbers are [json.Number], bounded.
func read(body []byte) (value any, ok bool) {
	r := reader{text: string(body)}
	if !utf8.ValidString(r.text) {
		return nil, false
	}
	value, ok = r.value(0)
	r.space()
	return value, ok && r.at == len(r.text)
}

// reader is a place in a text. Its methods read what begins there, and report
// whether it is what they read.
type reader struct {
	text string
	at   int
}

func (r *reader) value(depth int) (any, bool) {
	r.space()
	switch {
	case r.take("{"):
		return r.object(depth + 1)
	case r.take("["):
		return r.array(depth + 1)
	case r.take(`"`):
		return r.string()
	case r.take("null"):
		return nil, true
	case r.take("true"):
		return true, true
	case r.take("false"):
		return false, true
	}
	return r.number()
}

func (r *reader) object(depth int) (any, bool) {
	members := map[string]any{}
	if r.space(); r.take("}") {
		return members, depth <= maxDepth
	}
	for depth <= maxDepth {
		if r.space(); !r.take(`"`) {
			return nil, false
		}
		name, ok := r.string()
		if _, duplicate := members[name]; !ok || duplicate {
			return nil, false
		}
		if r.space(); !r.take(":") {
			return nil, false
		}
		if members[name], ok = r.value(depth); !ok {
			return nil, false
		}
		if r.space(); r.take("}") {
			return members, true
		}
		if !r.take(",") {
			return nil, false
		}
	}
	return nil, false
}

func (r *reader) array(depth int) (any, bool) {
	elements := []any{}
	if r.space(); r.take("]") {
		return elements, depth <= maxDepth
	}
	for depth <= maxDepth {
		element, ok := r.value(depth)
		if !ok {
			return nil, false
		}
		elements = append(elements, element)
		if r.space(); r.take("]") {
			return elements, true
		}
		if !r.take(",") {
			return nil, false
		}
	}
	return nil, false
}

// string reads what follows the opening quotation mark.
func (r *reader) string() (string, bool) {
	var decoded strings.Builder
	for !r.take(`"`) {
		if r.take(`\`) {
			character, ok := r.escape()
			if !ok {
				return "", false
			}
			decoded.WriteRune(character)
			continue
		}
		if r.at == len(r.text) || r.text[r.at] < ' ' {
			return "", false
		}
		decoded.WriteByte(r.text[r.at])
		r.at++
	}
	return decoded.String(), true
}

// escape reads what follows a backslash: for a character beyond 16 bits, both
// halves of it.
func (r *reader) escape() (rune, bool) {
	if r.take("u") {
		first, ok := r.hex()
		if !ok || !utf16.IsSurrogate(first) {
			return first, ok
		}
		if !r.take(`\u`) {
			return 0, false
		}
		second, ok := r.hex()
		pair := utf16.DecodeRune(first, second)
		return pair, ok && pair != utf8.RuneError
	}
	for i, letter := range `"\/bfnrt` {
		if r.take(string(letter)) {
			return rune("\"\\/\b\f\n\r\t"[i]), true
		}
	}
	return 0, false
}

func (r *reader) hex() (rune, bool) {
	if len(r.text)-r.at < 4 {
		return 0, false
	}
	unit, err := strconv.ParseUint(r.text[r.at:r.at+4], 16, 16)
	r.at += 4
	return rune(unit), err == nil
}

var numberAtStart = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?`)

func (r *reader) number() (json.Number, bool) {
	literal := numberAtStart.FindString(r.text[r.at:])
	r.at += len(literal)
	return bounded(literal), literal != ""
}

func (r *reader) space() {
	for r.at < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.at]) >= 0 {
		r.at++
	}
}

// take passes over the prefix, if it is next.
func (r *reader) take(prefix string) bool {
	if !strings.HasPrefix(r.text[r.at:], prefix) {
		return false
	}
	r.at += len(prefix)
	return true
}

// bounded returns the literal as it is, unless its exponent is so large that
// math/big, which the schema's judge uses, would take all memory. Then it
// returns another number that is as much an integer and as much out of the range
// of 64 bits, or the very same number where it is zero.
func bounded(literal string) json.Number {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(literal), "e")
	power, _ := strconv.Atoi(exponent) // the nearest int where it is none, and 0 for nothing
	limit := len(mantissa) + 20        // 10^20 is beyond 64 bits
	switch {
	case !strings.ContainsAny(mantissa, "123456789"):
		return "0"
	case power > limit:
		return "1e20"
	case power < -limit:
		return "0.5"
	}
	return json.Number(literal)
}

// The suite in jsonsuite_test.go judges the reader too. These are what it has
// not, or does not tell.
func TestRead(t *testing.T) {
	deep := func(n int) string { return strings.Repeat(`{"a":[`, n/2) + strings.Repeat(`]}`, n/2) }
	tests := []struct {
		name string
		body string
		want bool
	}{
		{"an object and white space", " \t\r\n{ \"a\" : [ 1 , { } ] } ", true},
		{"every escape", `"\"\\\/\b\f\n\r\t\u00e4\ud83c\udf31"`, true},
		{"the replacement character", "\"\uFFFD\\ufffd\"", true},
		{"names that differ in case", `{"a":1,"A":2}`, true},
		{"the same name in two objects", `{"a":{"a":1},"b":{"a":1}}`, true},
		{"the deepest nesting", deep(maxDepth), true},
		{"nesting one deeper", "[" + deep(maxDepth) + "]", false},
		{"nesting one deeper, empty", strings.Repeat("[", maxDepth+1) + strings.Repeat("]", maxDepth+1), false},
		{"a name twice", `{"a":1,"a":1}`, false},
		{"a name twice, by an escape", `{"a":1,"\u0061":1}`, false},
		{"a name twice, by a pair of escapes", `{"🌱":1,"\ud83c\udf31":1}`, false},
		{"a name twice, further in", `[{"x":{"a":1,"b":2,"a":3}}]`, false},
		{"a lone high surrogate", `"\ud83c"`, false},
		{"a lone low surrogate", `"\udf31"`, false},
		{"surrogates in the wrong order", `"\udf31\ud83c"`, false},
		{"a high surrogate before another escape", `"\ud83c\n"`, false},
		{"an underscore in an escape", `"\u0_61"`, false},
		{"a sign in an escape", `"\u+061"`, false},
		{"a byte order mark", "\uFEFF{}", false},
		{"invalid UTF-8 after the value", "{}\xff", false},
		{"an encoded surrogate", "\"\xed\xa0\x80\"", false},
	}
	for _, test := range tests {
		if value, got := read([]byte(test.body)); got != test.want {
			t.Errorf("%s: read(%.80q) = %.80v, %t, want %t", test.name, test.body, value, got, test.want)
		}
	}
	want := "\"\\/\b\f\n\r\tä🌱"
	if got, ok := read([]byte(tests[1].body)); got != want || !ok {
		t.Errorf("read(%s) = %q, %t, want %q", tests[1].body, got, ok, want)
	}
}

func TestBounded(t *testing.T) {
	tests := []struct{ literal, want json.Number }{
		{"1.50E+3", "1.50E+3"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"0e999999999", "0"},
		{"-0.000e-99999999999999999999", "0"},
		{"-1e999999999", "1e20"},
		{"0.001e99999999999999999999", "1e20"},
		{"1e-999999999", "0.5"},
		{"123456789000e-99999999999999999999", "0.5"},
		{"10000000000000000000000e-22", "10000000000000000000000e-22"},
	}
	for _, test := range tests {
		if got := bounded(string(test.literal)); got != test.want {
			t.Errorf("bounded(%s) = %s, want %s", test.literal, got, test.want)
		}
	}
}

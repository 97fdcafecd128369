package judge

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/test/processtest"
)

// bodies returns the bodies that mutants are made of: valid ones, invalid ones and
// malformed ones.
func bodies() []string {
	return []string{
		`{"id":1,"name":"oak"}`,
		`{"id":1,"name":"oak","tag":"tree"}`,
		`{"tag":"","name":"Monstera deliciosa","id":-42}`,
		` { "id" : 10 , "name" : "oak" , "tag" : "tree" } `,
		`{"id":9223372036854775807,"name":"ä\u00e4\n","tag":"🌱\ud83c\udf31"}`,
		`{"id":-9223372036854775808,"name":" ","x":{"id":"1","name":[null,true,{"tag":1.5}]}}`,
		`{"id":1200e-2,"name":"\"\\\/\b\f\n\r\t","ID":null,"Name":0,"":[]}`,
		`{"\u0069d":1.0,"n\u0061me":"elm","tag":"a"}`,
		`{"id":0,"name":"oak","x":[[[[[]]]]],"y":{"z":{"z":{}}}}`,
		`{"id":9223372036854775808,"name":"oak"}`,
		`{"id":1.5,"name":"oak"}`,
		`{"id":"1","name":"oak"}`,
		`{"id":null,"name":"oak"}`,
		`{"id":1}`,
		`{"name":"oak","tag":"tree"}`,
		`{"id":1,"name":""}`,
		`{"id":1,"name":7,"tag":"tree"}`,
		`{"id":1,"name":"oak","tag":null}`,
		`{}`, `[]`, `null`, `1`, `"oak"`, `[{"id":1,"name":"oak"}]`,
		`{"id":1,"id":1,"name":"oak"}`,
		`{"id":1,"name":"oak"`,
		`{"id":01,"name":"oak"}`,
		"{\"id\":1,\"name\":\"\xff\"}",
		"\uFEFF" + `{"id":1,"name":"oak"}`,
		`{"id":1,"name":"\ud800"}`,
	}
}

// What a mutation takes from a body. In a body that is broken already they find
// what looks like it.
var (
	aString = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	aNumber = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)
	aValue  = regexp.MustCompile(aString.String() + `|` + aNumber.String() + `|null|true|false|\[\]|\{\}`)
	aMember = regexp.MustCompile(aString.String() + `\s*:\s*(` + aValue.String() + `)`)
	aLabel  = regexp.MustCompile(`"(name|tag)"\s*:\s*` + aString.String())
	aMark   = regexp.MustCompile(`[{}\[\],:]`)
)

// The pieces that mutations put into a body.
var (
	values = []string{
		`null`, `true`, `false`, `""`, `"x"`, `[]`, `{}`, `0`, `-1`, `1.5`, `"1"`, `[1,"a"]`, `{"id":1}`, `{"a":1,"a":1}`, `{"a":1,"\u0061":1}`,
		`"id"`, `"\u0000"`, "\"\uFFFD\"", `"🌱"`, "\"\xff\"",
	}
	names  = []string{`"id"`, `"name"`, `"tag"`, `"ID"`, `"Name"`, `"tag "`, `"x"`, `""`, `"\u0069d"`, `"\u0074ag"`, `"\u006eame"`, `"i\ud800"`}
	tokens = []string{
		`{`, `}`, `[`, `]`, `,`, `:`, `"`, `\`, `'`, `/**/`, `//`, `#`, `null`, `nul`, `NaN`, `Infinity`, `0`, `1`, `-`, `+`, `.`, `e`, `E5`, `0x1`,
		`\u00e4`, `\u12`, `\x41`, `\ud800`, `\udc00`, `\ud83c\udf31`, `\udf31\ud83c`, `ä`, `🌱`, "\uFEFF", "\u2028", "\u00a0", "\uFFFD", "\uFFFF",
		"\x00", "\x01", "\x1f", "\x7f", "\x80", "\xff", "\xc0\xaf", "\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x8c",
		`"x":1,`, `,"x":1`, `"id":2,`, `,"tag":""`,
	}
	spaces  = []string{" ", "\n", "\t", "\r", "\v", "\f", "\u00a0", "\u2028", "  \r\n"}
	numbers = []string{
		"%s.0", "%s.000", "%se0", "%sE+00", "%s0e-1", "%s.0e-0", "%s00E-2", "%s.5", "%se1", "%se3", "%se-1", "%se18", "%se19", "-%s", "0%s", "+%s",
		"%s.", ".%s", "%se", "%se+", "%s.e1", "%se999999999", "%se-999999999", "%se99999999999999999999", "0%[1]se1", "0.%se1", "0.%se30",
		"0.0e%s", "0e999999999", "-0", "-0.0e-9", "1%.0s", "10e-1%.0s", "12e-1%.0s",
		"9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "9.223372036854775807e18",
		"-9223372036854775808.0", "9223372036854775807.5", "92233720368547758070e-1", "92233720368547758071e-1",
	}
)

// mutations returns the ways to change a body.
func mutations(r *rand.Rand) []func(body string) string {
	one := func(of []string) string { return of[r.IntN(len(of))] }
	at := func(body string) int { return r.IntN(len(body) + 1) }
	// change changes one of what the pattern finds.
	change := func(body string, pattern *regexp.Regexp, by func(found string) string) string {
		all := pattern.FindAllStringIndex(body, -1)
		if all == nil {
			return body
		}
		where := all[r.IntN(len(all))]
		return body[:where[0]] + by(body[where[0]:where[1]]) + body[where[1]:]
	}
	return []func(string) string{
		func(body string) string { // a bit is flipped
			if body == "" {
				return body
			}
			changed := []byte(body)
			changed[r.IntN(len(body))] ^= 1 << r.IntN(8)
			return string(changed)
		},
		func(body string) string { // bytes are lost
			from := at(body)
			return body[:from] + body[min(len(body), from+1+r.IntN(3)):]
		},
		func(body string) string { // the end is lost
			if r.IntN(4) > 0 {
				return body
			}
			return body[:at(body)]
		},
		func(body string) string { // something comes in anywhere
			where := at(body)
			return body[:where] + one(tokens) + body[where:]
		},
		func(body string) string { // something comes into a string
			return change(body, aString, func(found string) string { return `"` + one(tokens) + found[1:] })
		},
		func(body string) string { // a character of a string is escaped
			return change(body, aString, func(found string) string {
				characters := []rune(found)
				i := r.IntN(len(characters))
				if c := characters[i]; c != '\\' && i > 0 && i < len(characters)-1 && characters[i-1] != '\\' {
					return string(characters[:i]) + escape(r, c) + string(characters[i+1:])
				}
				return found
			})
		},
		func(body string) string { // white space, also what only looks like it
			return change(body, aMark, func(found string) string { return one(spaces[:4+r.IntN(6)]) + found + one(spaces[:4]) })
		},
		func(body string) string { // a number is written in another way, or is another
			return change(body, aNumber, func(found string) string {
				format := one(numbers)
				if !strings.Contains(format, "%") {
					return format
				}
				return fmt.Sprintf(format, found)
			})
		},
		func(body string) string { // a value is another
			return change(body, aValue, func(string) string { return one(values) })
		},
		func(body string) string { // a value is within arrays or objects
			depth := 1 + r.IntN(3)
			if r.IntN(100) == 0 {
				depth = maxDepth - 2 + r.IntN(4)
			}
			return change(body, aValue, func(found string) string {
				if r.IntN(2) == 0 {
					return strings.Repeat("[", depth) + found + strings.Repeat("]", depth)
				}
				return strings.Repeat(`{"id":`, depth) + found + strings.Repeat("}", depth)
			})
		},
		func(body string) string { // a member is twice
			return change(body, aMember, func(found string) string { return found + "," + found })
		},
		func(body string) string { // another member comes in
			return change(body, aMember, func(found string) string { return one(names) + ":" + one(values) + "," + found })
		},
		func(body string) string { // a name is another
			return change(body, aMember, func(found string) string { return one(names) + found[len(aString.FindString(found)):] })
		},
		func(body string) string { // two members change places
			all := aMember.FindAllString(body, -1)
			if len(all) < 2 {
				return body
			}
			first, second := all[0], all[1+r.IntN(len(all)-1)]
			return strings.NewReplacer(first, second, second, first).Replace(body)
		},
	}
}

// grow makes the first name or tag about as large as a plant may be. No mutation
// follows it: they take long to look through so much.
func grow(r *rand.Rand, body string) string {
	label := aLabel.FindStringIndex(body)
	if label == nil {
		return body
	}
	end := label[1] - 1 // before the quotation mark
	return body[:end] + strings.Repeat("n", plant.MaxSize-8+r.IntN(10)) + body[end:]
}

// escape writes a character as an escape.
func escape(r *rand.Rand, c rune) string {
	format := []string{`\u%04x`, `\u%04X`}[r.IntN(2)]
	if high, low := utf16.EncodeRune(c); high != '\uFFFD' {
		return fmt.Sprintf(format+format, high, low)
	}
	return fmt.Sprintf(format, c)
}

// Every mutant is judged alike, whatever has become of it.
func TestMutants(t *testing.T) {
	j, r := newJudge(t), rand.New(rand.NewPCG(processtest.Seed(t), 0))
	total, groups := processtest.Scale(20_000, 100_000), map[error]int{}
	corpus, mutate := bodies(), mutations(r)
	for number := range total {
		body := corpus[min(r.IntN(len(corpus)), r.IntN(len(corpus)))] // the first ones, which are valid, more often
		for range 1 + r.IntN(3) {
			body = mutate[r.IntN(len(mutate))](body)
		}
		if r.IntN(200) == 0 {
			body = grow(r, body)
		}
		judged := j.check(t, fmt.Sprint("mutant ", number), []byte(body))
		groups[judged]++
		want := codes[judged]
		if body == "" {
			want = 1002
		}
		sent := request{body: []byte(body), text: number%2 == 0}
		if got, _, err := j.create(t, new(memory.PlantStore), sent); got != want || err != nil {
			t.Errorf("mutant %d: Invoke(%.5000q) = %d, %v, want %d", number, body, got, err, want)
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d mutants: %d malformed, %d invalid, %d too large, %d valid", total,
		groups[plant.ErrMalformed], groups[plant.ErrInvalid], groups[plant.ErrTooLarge], groups[nil])
	for _, group := range []error{plant.ErrMalformed, plant.ErrInvalid, nil} {
		if groups[group] < total/20 {
			t.Errorf("of %d mutants %d were judged %v, want 5 %% or more, or they show little", total, groups[group], group)
		}
	}
}

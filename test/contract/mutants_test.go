package contract

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// corpus returns the bodies of all cases except large ones, each once.
func corpus() (bodies []string) {
	for _, c := range conversations() {
		for _, s := range c.steps {
			if len(s.body) < 1000 {
				bodies = append(bodies, strings.NewReplacer("$1", "1", "$2", "2").Replace(s.body))
			}
		}
	}
	slices.Sort(bodies)
	return slices.Compact(bodies)
}

// The places of a body that mutations change. In a malformed body they match what looks like them.
var (
	aByte   = regexp.MustCompile(`(?s).`)
	aString = regexp.MustCompile(`"(\\.|[^"\\])*"`)
	aNumber = regexp.MustCompile(`-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`)
	aValue  = regexp.MustCompile(aString.String() + `|` + aNumber.String() + `|null|true|false|\[\]|\{\}`)
	aMember = regexp.MustCompile(aString.String() + `\s*:\s*(` + aValue.String() + `)`)
)

// The pieces that mutations put into a body, separated by spaces.
const (
	someValues = `null true "" "x" [] {} [1,"a"] {"id":1} {"a":1,"a":1} {"a":1,"\u0061":1} "\u0000" 0 -0.0e-9 1.5 "1" ` +
		`12e-1 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 9.223372036854775807e18 ` +
		"9223372036854775807.5 92233720368547758070e-1 92233720368547758071e-1 \"\uFFFD\" \"\xff\""
	someTokens = `{ } [ ] , : " \ ' /**/ // # nul NaN 0 - + . e 0x1 \u00e4 \u12 \x41 \ud800 \udc00 \ud83c\udf31 ` +
		"\\udf31\\ud83c 🌱 \uFEFF \u2028 \u00a0 \n \v \x00 \x1f \x7f \x80 \xff \xc0\xaf \xc3 \xed\xa0\x80 \xf4\x90\x80\x80 " +
		`"x":1, ,"x":1 "id":2, ,"tag":""`
	someForms = "%s.0 %s.000e-0 %sE+00 %s0e-1 %s00E-2 %s.5 %se1 %se-1 %se18 %se19 -%s 0%s +%s %s. .%s %se %s.e1 " +
		"%se999999999 %se-999999999 %se99999999999999999999 0e%s 0.%se1 0.0e%s" // of a number
)

// someNames are names of members, those of a NewPlant among them.
var someNames = `"` + strings.Join(membersOfType(""), `" "`) + `" "ID" "" "\u0069d" "n\u0061me" "i\ud800"`

// mutant returns one of the bodies after some changes.
func mutant(r *rand.Rand, bodies []string) string {
	body := bodies[r.IntN(len(bodies))]
	for range 1 + r.IntN(3) {
		body = mutate(r, body)
	}
	return body
}

// mutate changes one place of a body.
func mutate(r *rand.Rand, body string) string {
	one := func(of string) string { all := strings.Split(of, " "); return all[r.IntN(len(all))] }
	mutations := []struct {
		place *regexp.Regexp
		by    func(found string) string
	}{
		{aByte, func(found string) string { return string(found[0]^1<<r.IntN(8)) + found[1:] }},
		{aByte, func(string) string { return "" }},
		{aByte, func(found string) string { return one(someTokens) + found }},
		{aString, func(found string) string { return `"` + one(someTokens) + found[1:] }},
		{aNumber, func(found string) string { return fmt.Sprintf(one(someForms), found) }},
		{aValue, func(string) string { return one(someValues) }},
		{aValue, func(found string) string { return "[" + found + "]" }},
		{aMember, func(found string) string { return found + "," + found }},
		{aMember, func(found string) string { return one(someNames) + ":" + one(someValues) + "," + found }},
		{aMember, func(found string) string { return one(someNames) + found[len(aString.FindString(found)):] }},
	}
	mutation := mutations[r.IntN(len(mutations))]
	places := mutation.place.FindAllStringIndex(body, -1)
	if places == nil {
		return body
	}
	at := places[r.IntN(len(places))]
	return body[:at[0]] + mutation.by(body[at[0]:at[1]]) + body[at[1]:]
}

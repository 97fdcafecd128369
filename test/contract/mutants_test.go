package contract

import (
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

// Places of a body, and what may stand there instead: texts that spaces separate, in which _ is what stood there. In a
// malformed body the places are what looks like them.
var mutations = []struct{ place, by string }{
	{`(?s).`, ` {_ }_ [_ ]_ ,_ :_ "_ \_ '_ /**/_ //_ #_ nul_ NaN_ 0_ -_ +_ ._ e_ 0x1_ \u00e4_ \u12_ \x41_ \ud800_ \udc00_ ` +
		`\ud83c\udf31_ \udf31\ud83c_ 🌱_ "x":1,_ ,"x":1_ "id":2,_ ,"tag":""_ ` +
		"\uFEFF_ \u2028_ \u00a0_ \n_ \v_ \x00_ \x1f_ \x7f_ \x80_ \xff_ \xc0\xaf_ \xc3_ \xed\xa0\x80_ \xf4\x90\x80\x80_"},
	{aNumber, "_.0 _.000e-0 _E+00 _0e-1 _00E-2 _.5 _e1 _e-1 _e18 _e19 -_ 0_ +_ _. ._ _e _.e1 " +
		"_e999999999 _e-999999999 _e99999999999999999999 0e_ 0._e1 0.0e_"},
	{aValue, `[_] null true "" "x" [] {} [1,"a"] {"id":1} {"a":1,"a":1} {"a":1,"\u0061":1} "\u0000" 0 -0.0e-9 1.5 "1" ` +
		`12e-1 9223372036854775807 9223372036854775808 -9223372036854775808 -9223372036854775809 9.223372036854775807e18 ` +
		"9223372036854775807.5 92233720368547758070e-1 92233720368547758071e-1 \"\uFFFD\" \"\xff\""},
	{aString + `\s*:\s*(` + aValue + `)`, `_,_ "ID":1,_ "":{},_ "\u0069d":2,_ "n\u0061me":"x",_ "i\ud800":1,_ "x":[{"y":1,"y":1}],_ ` +
		`"` + strings.Join(membersOfType(""), `":null,_ "`) + `":null,_`},
	{`"(` + strings.Join(membersOfType(""), "|") + `)"`, `"` + strings.Join(membersOfType(""), `" "`) + `" "ID" ""`},
}

const (
	aString = `"(?:\\.|[^"\\])*"`
	aNumber = `-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?`
	aValue  = aString + `|` + aNumber + `|null|true|false|\[\]|\{\}`
)

// mutant returns one of the bodies after some changes.
func mutant(r *rand.Rand, bodies []string) string {
	body := bodies[r.IntN(len(bodies))]
	for range 1 + r.IntN(3) {
		mutation := mutations[r.IntN(len(mutations))]
		if places := regexp.MustCompile(mutation.place).FindAllStringIndex(body, -1); places != nil {
			at, all := places[r.IntN(len(places))], strings.Split(mutation.by, " ")
			found := body[at[0]:at[1]]
			body = body[:at[0]] + strings.ReplaceAll(all[r.IntN(len(all))], "_", found) + body[at[1]:]
		}
	}
	return body
}

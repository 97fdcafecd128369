package contract

import (
	"net/http"
	"strings"
)

const (
	oak = `{"id":$1,"name":"oak"}`
	elm = `{"id":$1,"name":"elm"}`
)

var (
	isOak  = created(`{"name":"oak"}`)
	exists = refused(3001)
)

// probe is the one case that writes where only one plant may be written.
func probe() []conversation {
	const body = `{"id":$1,"name":"probe","tag":"contract-probe"}`
	again := post(header("Idempotency-Key", "probe-$1"), body, created(`{"name":"probe","tag":"contract-probe"}`))
	other := post(again.header, elm, refused(3002))
	steps := []step{again, again, post(nil, body, exists), other, again}
	return []conversation{{"a plant is created once, and repeats are answered truly", nothing, steps}}
}

func plants() []conversation {
	query := post(nil, oak, isOak)
	query.route = "POST /plants?name=elm&x=1&x=2"
	cases := []conversation{writes("a query string changes nothing", query)}
	for _, row := range []struct{ name, body, plant string }{
		{"unknown members are ignored", ` {"id":$1,"name":"oak","Tag":1,"x":null,"y":{"z":[]}} `, `{"name":"oak"}`},
		{"the deepest nesting", `{"id":$1,"name":"oak","x":` + nested(9999) + `}`, `{"name":"oak"}`},
		{"escapes in names and values", `{"\u0069d":$1,"name":"\u00fc\t\"\\\/\ud83c\udf31"}`, `{"name":"ü\t\"\\/🌱"}`},
		{"any script, and NUL", `{"id":$1,"name":"ش 梅 é","tag":"\u0000"}`, `{"name":"ش 梅 é","tag":"\u0000"}`},
		{"characters that HTML escapes", `{"id":$1,"name":"<a>&\u2028"}`, `{"name":"<a>&\u2028"}`},
	} {
		cases = append(cases, writes(row.name, post(nil, row.body, created(row.plant))))
	}
	return cases
}

func ids() []conversation {
	withID := func(id string) step { return post(nil, `{"id":`+id+`,"name":"oak"}`, isOak) }
	cases := []conversation{
		writes("a negative id is another", withID("-$1"), withID("$1")),
		writes("ids that differ in the last digit are two", withID("$1"), withID("$2")),
	}
	for _, id := range []string{"$1.000", "$1e0", "$100e-2", "$1.0E+0"} {
		cases = append(cases, writes("the id "+id, withID(id), post(nil, oak, exists)))
	}
	for _, id := range []string{"-0.0", "9.223372036854775807e18", "-9223372036854775808"} {
		first := withID(id)
		first.want.codes = exists.codes // a plant with this id may exist
		cases = append(cases, writes("the id "+id, first))
	}
	return cases
}

// What probe shows is not repeated here.
func duplicates() []conversation {
	key := func(values ...string) http.Header { return header("Idempotency-Key", values...) }
	replay, long := key("replay-$1"), strings.Repeat("k", 254)
	stranger := http.Header{"Idempotency-Key": {"replay-$1"}, "Authorization": {"Bearer $OTHER_TOKEN"}}
	create, first := post(nil, oak, isOak), post(replay, oak, isOak)
	return []conversation{
		writes("another plant of the same id", create, post(nil, elm, exists)),
		writes("a refused plant does not take its id", post(nil, `{"id":$1}`, invalid("name is required")), create),
		writes("a refused token does not take the id", post(header("Authorization"), oak, refused(2001)), create),
		writes("the same key with another tag", first, post(replay, `{"id":$1,"name":"oak","tag":""}`, refused(3002))),
		writes("the same plant written in another way", first, post(replay, `{"x":1, "name":"\u006fak", "id":$1.0}`, isOak)),
		writes("the same key with another id is another request", first, post(replay, `{"id":$2,"name":"oak"}`, isOak)),
		writes("a key with one more = is another request", first, post(key("replay-$1="), oak, exists)),
		writes("a key in another case is another request", first, post(key("Replay-$1"), oak, exists)),
		writes("keys that differ in the 255th character", post(key(long+"a"), oak, isOak), post(key(long+"b"), oak, exists)),
		{"a key in two headers is one key", joinedHeaders, []step{post(key("a-$1", "b-$1"), oak, isOak), post(key("a-$1"), oak, exists)}},
		{"the key of another subject is another request", anotherToken, []step{first, post(stranger, oak, exists)}},
	}
}

func gatewayAnswers() []conversation {
	large := post(nil, strings.Repeat(" ", 10<<20+1), refused(http.StatusRequestEntityTooLarge))
	cases := []conversation{{"a body over 10 MB", gatewayBodies, []step{large}}}
	for _, route := range []string{
		"GET /plants", "PUT /plants", "PATCH /plants", "DELETE /plants", "OPTIONS /plants",
		"POST /plants/", "POST /Plants", "POST /plant", "POST /plants/1", "GET /",
	} {
		cases = append(cases, conversation{route, gatewayBodies, []step{{route: route, want: refused(http.StatusNotFound)}}})
	}
	return cases
}

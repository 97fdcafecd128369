package contract

import (
	"net/http"
	"strings"

	"plantstore/internal/plant"
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
	cases := []conversation{
		writes("no content type", post(header("Content-Type"), oak, isOak)),
		writes("a content type with a charset", post(header("Content-Type", "application/json; charset=utf-8"), oak, isOak)),
		writes("a query string changes nothing", query),
	}
	for _, row := range []struct{ name, body, plant string }{
		{"a tag", `{"id":$1,"name":"oak","tag":"tree"}`, `{"name":"oak","tag":"tree"}`},
		{"an empty tag is kept", `{"id":$1,"name":"oak","tag":""}`, `{"name":"oak","tag":""}`},
		{"unknown members are ignored", `{"id":$1,"name":"oak","Tag":1,"x":null,"y":{"z":[]}}`, `{"name":"oak"}`},
		{"the deepest nesting", `{"id":$1,"name":"oak","x":` + nested(9999) + `}`, `{"name":"oak"}`},
		{"members in another order", `{"tag":"t","name":"oak","id":$1}`, `{"name":"oak","tag":"t"}`},
		{"white space between tokens", " {\n\t\"id\" : $1 ,\r\n \"name\" : \"oak\" }\n", `{"name":"oak"}`},
		{"escapes in names and values", `{"\u0069d":$1,"name":"\u00fc\t\"\\\/\ud83c\udf31"}`, `{"name":"ü\t\"\\/🌱"}`},
		{"NUL in a name", `{"id":$1,"name":"a\u0000b"}`, `{"name":"a\u0000b"}`},
		{"any script", `{"id":$1,"name":"Ясень 梅 شجرة 🌳","tag":"😀"}`, `{"name":"Ясень 梅 شجرة 🌳","tag":"😀"}`},
		{"characters that HTML escapes", `{"id":$1,"name":"<a>&\u2028"}`, `{"name":"<a>&\u2028"}`},
		{"combining characters stay as they are", `{"id":$1,"name":"e\u0301"}`, `{"name":"e\u0301"}`},
		{"a space as a name", `{"id":$1,"name":" "}`, `{"name":" "}`},
	} {
		cases = append(cases, writes(row.name, post(nil, row.body, created(row.plant))))
	}
	return cases
}

func ids() []conversation {
	withID := func(id string) string { return `{"id":` + id + `,"name":"oak"}` }
	cases := []conversation{
		writes("a negative id is another", post(nil, withID("-$1"), isOak), post(nil, oak, isOak)),
		writes("ids that differ in the last digit are two", post(nil, oak, isOak), post(nil, withID("$2"), isOak)),
	}
	for _, id := range []string{"$1.000", "$1e0", "$100e-2", "$1.0E+0"} {
		cases = append(cases, writes("the id "+id, post(nil, withID(id), isOak), post(nil, oak, exists)))
	}
	for _, row := range [][2]string{
		{"-0", "0"}, {"0.0", "0"}, {"0e999999999", "0"}, {"9.223372036854775807e18", "9223372036854775807"},
		{"-9223372036854775808", "-9.223372036854775808e+18"},
	} {
		first := post(nil, withID(row[0]), want{plant: isOak.plant, codes: exists.codes}) // a plant with this id may exist
		cases = append(cases, writes("the id "+row[0]+" is "+row[1], first, post(nil, withID(row[1]), exists)))
	}
	return cases
}

func duplicates() []conversation {
	create, large := post(nil, oak, isOak), `{"id":$1,"name":"`+strings.Repeat("n", plant.MaxSize+1)+`"}`
	stranger := header("Authorization", unknownToken)
	return []conversation{
		writes("the same plant again", create, post(nil, oak, exists), post(nil, oak, exists)),
		writes("another plant of the same id", create, post(nil, elm, exists)),
		writes("a refused plant does not take its id", post(nil, `{"id":$1}`, invalid("name is required")), create),
		writes("a plant that is too large does not take its id", post(nil, large, refused(1005)), create),
		writes("a request with an unknown token does not take the id", post(stranger, oak, refused(2003)), create),
		writes("a request without a token does not take the id", post(header("Authorization"), oak, refused(2001)), create),
	}
}

func replays() []conversation {
	key := func(values ...string) http.Header { return header("Idempotency-Key", values...) }
	replay, long := key("replay-$1"), strings.Repeat("k", 254)
	stranger := http.Header{"Idempotency-Key": {"replay-$1"}, "Authorization": {"Bearer $OTHER_TOKEN"}}
	first := post(replay, oak, isOak)
	return []conversation{
		writes("the same key and plant get the first answer again", first, first),
		writes("the same key with another name", first, post(replay, elm, refused(3002))),
		writes("the same key with another tag", first, post(replay, `{"id":$1,"name":"oak","tag":""}`, refused(3002))),
		writes("the same plant written in another way", first, post(replay, `{"x":1, "name":"\u006fak", "id":$1.0}`, isOak)),
		writes("the same key with another id is another request", first, post(replay, `{"id":$2,"name":"oak"}`, isOak)),
		writes("another key is another request", first, post(key("other-$1"), oak, exists)),
		writes("a key in another case is another request", first, post(key("Replay-$1"), oak, exists)),
		writes("keys of 255 characters that differ in the last", post(key(long+"a"), oak, isOak), post(key(long+"b"), oak, exists)),
		writes("a key in two headers is one key",
			post(key("a-$1", "b-$1"), oak, isOak), post(key("a-$1"), oak, exists), post(key("b-$1"), oak, exists)),
		writes("no key is another request", first, post(nil, oak, exists)),
		{"the key of another subject is another request", anotherToken, []step{first, post(stranger, oak, exists)}},
	}
}

func gatewayAnswers() []conversation {
	tooLarge := want{status: http.StatusRequestEntityTooLarge, message: "Request Entity Too Large"}
	large := post(nil, strings.Repeat(" ", 10<<20+1), tooLarge)
	cases := []conversation{{"a body over 10 MB", gatewayBodies, []step{large}}}
	for _, route := range []string{
		"GET /plants", "PUT /plants", "PATCH /plants", "DELETE /plants", "OPTIONS /plants",
		"POST /plants/", "POST /Plants", "POST /plant", "POST /plants/1", "GET /",
	} {
		want := want{status: http.StatusNotFound, message: "Not Found"}
		cases = append(cases, conversation{route, gatewayBodies, []step{{route: route, want: want}}})
	}
	return cases
}

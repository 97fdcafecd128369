package contract

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// A conversation is one case: requests that are sent one after the other, and
// what each must be answered.
type conversation struct {
	name  string
	needs need
	steps []step
}

// A need is what a target must have for a case. One that has not is not asked.
type need int

const (
	nothing       need = iota
	freshIDs           // that anything may be written
	expiredToken       // an expired token, in EXPIRED_TOKEN
	revokedToken       // a revoked token, in REVOKED_TOKEN
	anotherToken       // a token of another subject, in OTHER_TOKEN
	rawBytes           // that bodies arrive byte for byte: not in `sam local`
	gatewayBodies      // API Gateway's own answers: not in `sam local`
)

// A step is a request and its answer. In headers and bodies, $1 and $2 stand
// for ids of the case's own, and $TOKEN and its like for the target's tokens.
type step struct {
	method string      // POST if empty
	path   string      // /plants if empty
	header http.Header // besides the default Authorization and Content-Type; nil takes one away
	body   string      // oak if empty
	want   answer
}

// String describes the request, with its tokens by their names.
func (s step) String() string {
	text := fmt.Sprint(cmp.Or(s.method, http.MethodPost), " ", cmp.Or(s.path, "/plants"))
	if s.header != nil {
		text += fmt.Sprintf(" with %.200q", s.header)
	}
	return text + fmt.Sprintf(" and body %.200s", cmp.Or(s.body, oak))
}

// An answer is what must come: a Plant exactly, one of some errors, or the
// gateway's own answer.
type answer struct {
	plant   string
	errors  []int
	clause  string // that the message of 1004 goes on with
	status  int    // the gateway's own
	message string
}

const (
	oak     = `{"id":$1,"name":"oak"}`
	emptyBy = "(nothing)" // stands for a body of no bytes
)

func created(plant string) answer { return answer{plant: plant} }
func refused(code int) answer     { return answer{errors: []int{code}} }

// accepted is for ids that are not the case's own: the plant is created, or one
// with that id exists.
func accepted(plant string) answer { return answer{plant: plant, errors: []int{3001}} }

// invalid is 1004 with what it says of the body.
func invalid(clause string) answer { return answer{errors: []int{1004}, clause: clause} }

// noObject is what a body that is `[]` gets, if nothing else is wrong.
var noObject = invalid("it must be an object")

func gatewayAnswer(status int, message string) answer {
	return answer{status: status, message: message}
}

// conversations returns all cases.
func conversations() []conversation {
	var all []conversation
	for _, group := range []func() []conversation{
		probe, authentication, contentTypes, idempotencyKeys, malformedBodies,
		mistypedBodies, sizes, order, plants, ids, duplicates, replays, gatewayAnswers,
	} {
		all = append(all, group()...)
	}
	return all
}

// refusals returns a case of a single request for each row. Its body, where the
// row has none, is no plant: a service that does not refuse the request as it
// should refuses that, and writes nothing.
func refusals(code int, needs need, rows ...refusal) []conversation {
	var cases []conversation
	for _, r := range rows {
		cases = append(cases, conversation{r.name, needs, []step{{header: r.header, body: cmp.Or(r.body, `[]`), want: refused(code)}}})
	}
	return cases
}

type refusal struct {
	name   string
	body   string
	header http.Header
}

func header(name string, values ...string) http.Header { return http.Header{name: values} }

// probe is the one case that writes where only one plant may be written.
func probe() []conversation {
	const plant = `{"id":$1,"name":"probe","tag":"contract-probe"}`
	key := header("Idempotency-Key", "probe-$1")
	return []conversation{{"a plant is created once, and the truth about it is told", nothing, []step{
		{header: key, body: plant, want: created(`{"name":"probe","tag":"contract-probe"}`)},
		{header: key, body: plant, want: created(`{"name":"probe","tag":"contract-probe"}`)},
		{body: plant, want: refused(3001)},
		{header: key, body: `{"id":$1,"name":"another"}`, want: refused(3002)},
		{header: key, body: plant, want: created(`{"name":"probe","tag":"contract-probe"}`)},
	}}}
}

func authentication() []conversation {
	authorization := func(values ...string) http.Header { return header("Authorization", values...) }
	cases := refusals(2001, nothing,
		refusal{name: "no Authorization header", header: authorization()},
		refusal{name: "an empty Authorization header", header: authorization("")},
		refusal{name: "the Basic scheme", header: authorization("Basic dXNlcjpwYXNz")},
		refusal{name: "the token without a scheme", header: authorization("$TOKEN")},
		refusal{name: "a scheme that starts like Bearer", header: authorization("Bearers $TOKEN")},
		refusal{name: "a quoted scheme", header: authorization(`"Bearer" $TOKEN`)},
	)
	cases = append(cases, refusals(2002, nothing,
		refusal{name: "Bearer alone", header: authorization("Bearer")},
		refusal{name: "a tab after the scheme", header: authorization("Bearer\t$TOKEN")},
		refusal{name: "two tokens", header: authorization("Bearer $TOKEN $TOKEN")},
		refusal{name: "two tokens with a comma", header: authorization("Bearer $TOKEN,$TOKEN")},
		refusal{name: "two Authorization headers", header: authorization("Bearer $TOKEN", "Bearer $TOKEN")},
		refusal{name: "Bearer twice", header: authorization("Bearer Bearer $TOKEN")},
		refusal{name: "a quoted token", header: authorization(`Bearer "$TOKEN"`)},
		refusal{name: "a token with a colon", header: authorization("Bearer a:b")},
		refusal{name: "a parameter after the token", header: authorization("Bearer $TOKEN; x=y")},
	)...)
	cases = append(cases, refusals(2003, nothing,
		refusal{name: "an unknown token", header: authorization("Bearer pst_UnknownTokenOfTheEventsFolder04BhG5y")},
		refusal{name: "a token of another form", header: authorization("Bearer eyJhbGciOiJub25lIn0.e30.")},
		refusal{name: "a token of one character", header: authorization("Bearer a")},
		refusal{name: "one character appended to the token", header: authorization("Bearer ${TOKEN}0")},
		refusal{name: "the prefix alone", header: authorization("Bearer pst_")},
		refusal{name: "the token with its last character changed", header: authorization("Bearer $TYPO")},
		refusal{name: "the token cut short", header: authorization("Bearer $CUT")},
		refusal{name: "the token in lower case", header: authorization("Bearer $LOWER")},
		refusal{name: "a very long token", header: authorization("Bearer " + strings.Repeat("a", 4000))},
	)...)
	cases = append(cases, refusals(2003, expiredToken,
		refusal{name: "an expired token", header: authorization("Bearer $EXPIRED_TOKEN")})...)
	cases = append(cases, refusals(2003, revokedToken,
		refusal{name: "a revoked token", header: authorization("Bearer $REVOKED_TOKEN")})...)
	for _, value := range []string{"bearer $TOKEN", "BEARER $TOKEN", "bEaReR $TOKEN", "Bearer   $TOKEN"} {
		// The body is refused, which shows that the token was not.
		cases = append(cases, conversation{
			"the scheme written as " + strings.TrimSuffix(value, "$TOKEN"), nothing,
			[]step{{header: authorization(value), body: `[]`, want: noObject}},
		})
	}
	return cases
}

func contentTypes() []conversation {
	var cases []conversation
	for _, value := range []string{
		"text/plain", "text/json", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
		"application/problem+json", "application/jsonp", "application", "json", "*/*", "application/json, text/plain",
	} {
		cases = append(cases, conversation{
			"content type " + value, nothing,
			[]step{{header: header("Content-Type", value), body: `[]`, want: refused(1001)}},
		})
	}
	for _, value := range []string{
		"application/json", "APPLICATION/JSON", "Application/Json", "application/json; charset=utf-8",
		"application/json;charset=UTF-8", "application/json ; x=y; z", "application/json;",
	} {
		cases = append(cases, conversation{
			"content type " + value, nothing,
			[]step{{header: header("Content-Type", value), body: `[]`, want: noObject}},
		})
	}
	return append(cases, conversation{
		"no content type is taken as JSON", nothing,
		[]step{{header: header("Content-Type"), body: `[]`, want: noObject}},
	})
}

func idempotencyKeys() []conversation {
	key := func(values ...string) http.Header { return header("Idempotency-Key", values...) }
	cases := refusals(1006, nothing,
		refusal{name: "an empty Idempotency-Key", header: key("")},
		refusal{name: "an Idempotency-Key of 256 characters", header: key(strings.Repeat("k", 256))},
		refusal{name: "a space in the Idempotency-Key", header: key("a b")},
		refusal{name: "an Idempotency-Key beyond ASCII", header: key("schlüssel")},
	)
	for _, value := range []string{"k", "!~", `{"json":[1,2]}`, strings.Repeat("k", 255)} {
		cases = append(cases, conversation{
			"an Idempotency-Key like " + value[:min(len(value), 20)], nothing,
			[]step{{header: key(value), body: `[]`, want: noObject}},
		})
	}
	return cases
}

func malformedBodies() []conversation {
	cases := refusals(1002, nothing,
		refusal{name: "no body", body: emptyBy},
		refusal{name: "no body and no content type", body: emptyBy, header: header("Content-Type")},
	)
	for _, body := range []string{
		" ", "\n\t", "{", "}", `{"id":$1`, `{"id":$1,"name":"oak"`, `{"id":$1,"name":"oak"}}`, `{"id":$1,"name":"oak"} x`,
		`{"id":$1,"name":"oak"}{"id":$2,"name":"oak"}`, `{"id":$1 "name":"oak"}`, `{"id":$1,"name":"oak",}`, `{,"id":$1,"name":"oak"}`,
		`{id:$1,name:"oak"}`, `{'id':$1,'name':'oak'}`, `{"id":$1,"name":"oak"}//`, `{"id":0$1,"name":"oak"}`,
		`{"id":+$1,"name":"oak"}`, `{"id":.5,"name":"oak"}`, `{"id":1.,"name":"oak"}`, `{"id":1e,"name":"oak"}`, `{"id":0x10,"name":"oak"}`,
		`{"id":NaN,"name":"oak"}`, `{"id":Infinity,"name":"oak"}`, `{"id":$1,"name":oak}`, `{"id":$1,"name":"oak`, `{"id":$1,"name":"\x"}`,
		`{"id":$1,"name":"\u12"}`, `{"id":$1,"name":"\ud800"}`, `{"id":$1,"name":"\udc00\ud800"}`, `{"id":$1,"name":"oak","x":"\ud83c"}`,
		"{\"id\":$1,\"name\":\"a\nb\"}", "{\"id\":$1,\"name\":\"a\x00b\"}", "\uFEFF" + oak, `{"id":$1,"id":$1,"name":"oak"}`,
		`{"id":$1,"name":"oak","name":"elm"}`, `{"id":$1,"name":"oak","t\u0061g":"","tag":""}`, `{"id":$1,"name":"oak","x":{"y":1,"y":1}}`,
		`nul`, `True`, `id=1&name=oak`, `<plant/>`, `{"id":$1,"name":"oak","x":[1,]}`,
	} {
		cases = append(cases, refusals(1003, nothing, refusal{name: "not well-formed: " + body, body: body})...)
	}
	return append(cases, refusals(1003, rawBytes,
		refusal{name: "not well-formed: invalid UTF-8", body: "{\"id\":$1,\"name\":\"\xff\"}"},
		refusal{name: "not well-formed: an overlong encoding", body: "{\"id\":$1,\"name\":\"\xc0\xaf\"}"},
		refusal{name: "not well-formed: an encoded surrogate", body: "{\"id\":$1,\"name\":\"\xed\xa0\x80\"}"},
		refusal{name: "not well-formed: UTF-16", body: "\xff\xfe{\x00}\x00"},
		refusal{name: "not well-formed: a cut UTF-8 character", body: "{\"id\":$1,\"name\":\"oak\"}\xe2\x82"},
		refusal{name: "not well-formed: invalid UTF-8 in a name", body: "{\"id\":$1,\"name\":\"oak\",\"\x80\":1}"},
	)...)
}

func mistypedBodies() []conversation {
	const whole, inRange = "id must be an integer", "id must be from -9223372036854775808 to 9223372036854775807"
	var cases []conversation
	for _, group := range []struct {
		clause string
		bodies []string
	}{
		{"it must be an object", []string{`null`, `true`, `[]`, `1`, `"oak"`, `[{"id":$1,"name":"oak"}]`}},
		{"id is required", []string{`{}`, `{"name":"oak"}`, `{"ID":$1,"NAME":"oak"}`}},
		{whole, []string{
			`{"id":null,"name":"oak"}`, `{"id":"$1","name":"oak"}`, `{"id":true,"name":"oak"}`, `{"id":[$1],"name":"oak"}`,
			`{"id":{},"name":"oak"}`, `{"id":1.5,"name":"oak"}`, `{"id":1e-1,"name":"oak"}`, `{"id":1e-999999999,"name":"oak"}`,
		}},
		{inRange, []string{
			`{"id":9223372036854775808,"name":"oak"}`, `{"id":-9223372036854775809,"name":"oak"}`, `{"id":1e19,"name":"oak"}`,
			`{"id":1e999999999,"name":"oak"}`, `{"id":-1E+99999999999999999999,"name":"oak"}`,
		}},
		{"name is required", []string{`{"id":$1}`, `{"id":$1,"Name":"oak"}`}},
		{"name must be a string", []string{
			`{"id":$1,"name":null}`, `{"id":$1,"name":1}`, `{"id":$1,"name":["oak"]}`, `{"id":$1,"name":{}}`, `{"id":$1,"name":false}`,
		}},
		// Which shows that these are ids.
		{"name must have at least one character", []string{
			`{"id":$1,"name":""}`, `{"id":0,"name":""}`, `{"id":-0.0,"name":""}`, `{"id":-1,"name":""}`, `{"id":1e3,"name":""}`, `{"id":0e999999999,"name":""}`,
			`{"id":9223372036854775807,"name":""}`, `{"id":-9223372036854775808,"name":""}`, `{"id":9.223372036854775807e18,"name":""}`,
		}},
		{"tag must be a string", []string{
			`{"id":$1,"name":"oak","tag":null}`, `{"id":$1,"name":"oak","tag":1}`, `{"id":$1,"name":"oak","tag":["x"]}`, `{"id":$1,"name":"oak","tag":{}}`,
		}},
	} {
		for _, body := range group.bodies {
			cases = append(cases, conversation{group.clause + ": " + body, nothing, []step{{body: body, want: invalid(group.clause)}}})
		}
	}
	return cases
}

// limit is the largest size of name and tag together, in bytes.
const limit = 399_360

func sizes() []conversation {
	plant := func(name, tag string) string { return `{"id":$1,"name":"` + name + `","tag":"` + tag + `"}` }
	n := func(count int) string { return strings.Repeat("n", count) }
	cases := refusals(1005, nothing,
		refusal{name: "a name one byte too large", body: plant(n(limit+1), "")},
		refusal{name: "name and tag together one byte too large", body: plant(n(limit-10), strings.Repeat("t", 11))},
		refusal{name: "a name too large in bytes, not in characters", body: plant(strings.Repeat("ü", limit/2+1), "")},
		refusal{name: "a name of a million bytes", body: plant(n(1_000_000), "")},
	)
	return append(cases,
		conversation{"the largest plant", freshIDs, []step{{body: plant(n(limit-1), "t"), want: created(`{"name":"` + n(limit-1) + `","tag":"t"}`)}}},
		conversation{"a large unknown member beside a small plant", freshIDs, []step{
			{body: `{"id":$1,"name":"oak","x":"` + n(2*limit) + `"}`, want: created(`{"name":"oak"}`)},
		}})
}

// order: a request that is wrong in several ways gets the error of the first
// check.
func order() []conversation {
	all := func(headers ...http.Header) http.Header {
		joined := http.Header{}
		for _, h := range headers {
			for name, values := range h {
				joined[name] = values
			}
		}
		return joined
	}
	noToken, text, badKey := header("Authorization"), header("Content-Type", "text/plain"), header("Idempotency-Key", "a b")
	one := func(name string, h http.Header, body string, code int) conversation {
		return conversation{name, nothing, []step{{header: h, body: body, want: refused(code)}}}
	}
	return []conversation{
		one("authentication comes before the content type", all(noToken, text, badKey), `{`, 2001),
		one("authentication comes before the body", noToken, emptyBy, 2001),
		one("the content type comes before the idempotency key", all(text, badKey), `{`, 1001),
		one("the idempotency key comes before the body", badKey, emptyBy, 1006),
		one("form comes before types", nil, `{"id":"x","name":"oak"`, 1003),
		{"types come before the size", nothing, []step{{body: `{"id":"x","name":"` + strings.Repeat("n", limit+1) + `"}`, want: invalid("id must be an integer")}}},
	}
}

func plants() []conversation {
	accept := func(name, body, plant string) conversation {
		return conversation{name, freshIDs, []step{{body: body, want: created(plant)}}}
	}
	return []conversation{
		accept("id and name", oak, `{"name":"oak"}`),
		accept("a tag", `{"id":$1,"name":"oak","tag":"tree"}`, `{"name":"oak","tag":"tree"}`),
		accept("an empty tag is kept", `{"id":$1,"name":"oak","tag":""}`, `{"name":"oak","tag":""}`),
		accept("unknown members are ignored", `{"id":$1,"name":"oak","Tag":1,"x":null,"y":{"z":[]}}`, `{"name":"oak"}`),
		accept("members in another order", `{"tag":"t","name":"oak","id":$1}`, `{"name":"oak","tag":"t"}`),
		accept("white space between tokens", " {\n\t\"id\" : $1 ,\r\n \"name\" : \"oak\" }\n", `{"name":"oak"}`),
		accept("escapes in names and values", `{"\u0069d":$1,"name":"\u00fc\t\"\\\/\ud83c\udf31"}`, `{"name":"ü\t\"\\/🌱"}`),
		accept("NUL in a name", `{"id":$1,"name":"a\u0000b"}`, `{"name":"a\u0000b"}`),
		accept("any script", `{"id":$1,"name":"Ясень 梅 شجرة 🌳","tag":"😀"}`, `{"name":"Ясень 梅 شجرة 🌳","tag":"😀"}`),
		accept("characters that HTML escapes", `{"id":$1,"name":"<a>&\u2028"}`, `{"name":"<a>&\u2028"}`),
		accept("combining characters stay as they are", `{"id":$1,"name":"e\u0301"}`, `{"name":"e\u0301"}`),
		accept("a space as a name", `{"id":$1,"name":" "}`, `{"name":" "}`),
		{"no content type", freshIDs, []step{{header: header("Content-Type"), want: created(`{"name":"oak"}`)}}},
		{"a type with a charset", freshIDs, []step{{header: header("Content-Type", "application/json; charset=utf-8"), want: created(`{"name":"oak"}`)}}},
		{"a query string changes nothing", freshIDs, []step{{path: "/plants?name=elm&x=1&x=2", want: created(`{"name":"oak"}`)}}},
	}
}

func ids() []conversation {
	// The id is the case's own, written in another way; so the plain one exists.
	same := func(name, id string) conversation {
		return conversation{name, freshIDs, []step{
			{body: `{"id":` + id + `,"name":"oak"}`, want: created(`{"name":"oak"}`)},
			{want: refused(3001)},
		}}
	}
	// An id that is not the case's own may be taken. It is the one that it is also
	// written as.
	fixed := func(id, plain string) conversation {
		return conversation{"the id " + id + " is " + plain, freshIDs, []step{
			{body: `{"id":` + id + `,"name":"oak"}`, want: accepted(`{"name":"oak"}`)},
			{body: `{"id":` + plain + `,"name":"oak"}`, want: refused(3001)},
		}}
	}
	return []conversation{
		same("an id with a zero fraction", "$1.000"),
		same("an id with an exponent of zero", "$1e0"),
		same("an id with a negative exponent", "$100e-2"),
		same("an id with a fraction and an exponent", "$1.0E+0"),
		fixed("-0", "0"), fixed("0.0", "0"), fixed("0e999999999", "0"),
		fixed("9.223372036854775807e18", "9223372036854775807"), fixed("-9223372036854775808", "-9.223372036854775808e+18"),
		{"a negative id is another", freshIDs, []step{
			{body: `{"id":-$1,"name":"oak"}`, want: created(`{"name":"oak"}`)},
			{body: `{"id":$1,"name":"oak"}`, want: created(`{"name":"oak"}`)},
		}},
		{"ids that differ in the last digit are two", freshIDs, []step{
			{body: `{"id":$1,"name":"oak"}`, want: created(`{"name":"oak"}`)},
			{body: `{"id":$2,"name":"oak"}`, want: created(`{"name":"oak"}`)},
		}},
	}
}

func duplicates() []conversation {
	return []conversation{
		{"the same plant again", freshIDs, []step{{want: created(`{"name":"oak"}`)}, {want: refused(3001)}, {want: refused(3001)}}},
		{"another plant of the same id", freshIDs, []step{{want: created(`{"name":"oak"}`)}, {body: `{"id":$1,"name":"elm"}`, want: refused(3001)}}},
		{"a refused plant does not take its id", freshIDs, []step{
			{body: `{"id":$1,"name":""}`, want: invalid("name must have at least one character")}, {want: created(`{"name":"oak"}`)},
		}},
		{"a request with an unknown token does not take the id", freshIDs, []step{
			{header: header("Authorization", "Bearer pst_UnknownTokenOfTheEventsFolder04BhG5y"), want: refused(2003)}, {want: created(`{"name":"oak"}`)},
		}},
		{"a plant that is too large does not take its id", freshIDs, []step{
			{body: `{"id":$1,"name":"` + strings.Repeat("n", limit+1) + `"}`, want: refused(1005)}, {want: created(`{"name":"oak"}`)},
		}},
		{"a request without a token does not take the id", freshIDs, []step{
			{header: header("Authorization"), want: refused(2001)}, {want: created(`{"name":"oak"}`)},
		}},
	}
}

func replays() []conversation {
	key := header("Idempotency-Key", "replay-$1")
	other := header("Idempotency-Key", "other-$1")
	stranger := http.Header{"Idempotency-Key": {"replay-$1"}, "Authorization": {"Bearer $OTHER_TOKEN"}}
	return []conversation{
		{"the same key and plant get the first answer again", freshIDs, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {header: key, want: created(`{"name":"oak"}`)},
		}},
		{"the same key with another name", freshIDs, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {header: key, body: `{"id":$1,"name":"elm"}`, want: refused(3002)},
		}},
		{"the same key with another tag", freshIDs, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {header: key, body: `{"id":$1,"name":"oak","tag":""}`, want: refused(3002)},
		}},
		{"the same plant written in another way is the same", freshIDs, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {header: key, body: `{"x":1, "name":"\u006fak", "id":$1.0}`, want: created(`{"name":"oak"}`)},
		}},
		{"the same key with another id is another request", freshIDs, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {header: key, body: `{"id":$2,"name":"oak"}`, want: created(`{"name":"oak"}`)},
		}},
		{"another key is another request", freshIDs, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {header: other, want: refused(3001)},
		}},
		{"a key in another case is another request", freshIDs, []step{
			{header: header("Idempotency-Key", "Key-$1"), want: created(`{"name":"oak"}`)}, {header: header("Idempotency-Key", "key-$1"), want: refused(3001)},
		}},
		{"keys that differ in the last of 255 characters are two", freshIDs, []step{
			{header: header("Idempotency-Key", strings.Repeat("k", 254)+"a"), want: created(`{"name":"oak"}`)},
			{header: header("Idempotency-Key", strings.Repeat("k", 254)+"b"), want: refused(3001)},
		}},
		{"a key in two headers is one key", freshIDs, []step{
			{header: header("Idempotency-Key", "a-$1", "b-$1"), want: created(`{"name":"oak"}`)},
			{header: header("Idempotency-Key", "a-$1"), want: refused(3001)},
			{header: header("Idempotency-Key", "b-$1"), want: refused(3001)},
		}},
		{"no key is another request", freshIDs, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {want: refused(3001)},
		}},
		{"the key of another subject is another request", anotherToken, []step{
			{header: key, want: created(`{"name":"oak"}`)}, {header: stranger, want: refused(3001)},
		}},
	}
}

func gatewayAnswers() []conversation {
	one := func(name string, s step) conversation { return conversation{name, gatewayBodies, []step{s}} }
	notFound := gatewayAnswer(http.StatusNotFound, "Not Found")
	return []conversation{
		one("GET of the route", step{method: http.MethodGet, body: emptyBy, want: notFound}),
		one("PATCH of the route", step{method: http.MethodPatch, want: notFound}),
		one("OPTIONS of the route", step{method: http.MethodOptions, body: emptyBy, want: notFound}),
		one("a slash after the route", step{path: "/plants/", want: notFound}),
		one("the route in another case", step{path: "/Plants", want: notFound}),
		one("PUT of the route", step{method: http.MethodPut, want: notFound}),
		one("DELETE of the route", step{method: http.MethodDelete, want: notFound}),
		one("another path", step{path: "/plant", want: notFound}),
		one("a path below the route", step{path: "/plants/1", want: notFound}),
		one("the root", step{method: http.MethodGet, path: "/", body: emptyBy, want: notFound}),
		one("a body over 10 MB", step{body: strings.Repeat(" ", 10<<20+1), want: gatewayAnswer(http.StatusRequestEntityTooLarge, "Request Entity Too Large")}),
	}
}

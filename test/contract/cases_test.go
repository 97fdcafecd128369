package contract

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"plantstore/internal/plant"
)

// A conversation is one case: requests that are sent one after the other, each with the answer that it must get.
type conversation struct {
	name  string
	needs need
	steps []step
}

// A need is what a target must have for a case. Without it the case is left out.
type need int

const (
	nothing       need = iota
	freshIDs           // that anything may be written
	expiredToken       // an expired token, in EXPIRED_TOKEN
	revokedToken       // a revoked token, in REVOKED_TOKEN
	anotherToken       // a token of another subject, in OTHER_TOKEN
	rawBytes           // that bodies arrive byte for byte: not in `sam local` and the local AWS
	joinedHeaders      // that anything may be written, and two headers of a name are joined by a comma alone: not in the local AWS
	gatewayBodies      // API Gateway's own answers: not in `sam local` and the local AWS
)

// A step is a request and its answer. In routes, headers and bodies, $1 and $2 stand for ids of the case's own, $TOKEN and its
// like for the target's tokens, and $UNKNOWN for a token that no table has.
type step struct {
	route  string      // POST /plants if empty
	header http.Header // besides the default Authorization and Content-Type; nil removes one
	body   string
	want   want
}

func (s step) String() string {
	return fmt.Sprintf("%s with headers %.200q and body %.200q", cmp.Or(s.route, "POST /plants"), s.header, s.body)
}

// want is the answer to a step: a Plant, or one of some codes. An answer of API Gateway's own has its status as code.
type want struct {
	plant  string // as JSON
	codes  []int
	clause string // at the end of the message of 1004
}

func created(plant string) want { return want{plant: plant} }
func refused(code int) want     { return want{codes: []int{code}} }

// invalid is 1004 with what its message says of the body.
func invalid(clause string) want { return want{codes: []int{1004}, clause: clause} }

// noPlant is a body that creates no plant, and isNoPlant its answer if nothing else is wrong.
const noPlant = `[]`

var isNoPlant = invalid("it must be an object")

func header(name string, values ...string) http.Header { return http.Header{name: values} }

func post(header http.Header, body string, want want) step { return step{"", header, body, want} }

// one returns a case of a single request that creates no plant.
func one(name string, header http.Header, body string, want want) conversation {
	return conversation{name, nothing, []step{post(header, body, want)}}
}

// writes returns a case that creates plants.
func writes(name string, steps ...step) conversation { return conversation{name, freshIDs, steps} }

func conversations() []conversation {
	return slices.Concat(probe(), routes(), headers(), bodies(), texts(), sizes(), order(), plants(), ids(), duplicates(), gatewayAnswers())
}

// routes returns a case for each operation of openapi.yaml: nobody may use it without a token.
func routes() (cases []conversation) {
	paths, _ := at(document(), "paths").(map[string]any)
	for path, operations := range paths {
		for method := range operations.(map[string]any) {
			s := post(header("Authorization"), "", refused(2001))
			s.route = strings.ToUpper(method) + " " + regexp.MustCompile(`{\w+}`).ReplaceAllString(path, "1")
			cases = append(cases, conversation{s.route + " without a token", nothing, []step{s}})
		}
	}
	return cases
}

// headers returns a case for each value of a header.
func headers() (cases []conversation) {
	long := strings.Repeat("k", 255)
	for _, row := range []struct {
		header string
		want   want
		needs  need
		values []string
	}{
		{"Authorization", refused(2001), nothing, []string{"", "Basic dXNlcjpwYXNz", "$TOKEN", "Bearers $TOKEN"}},
		{"Authorization", refused(2002), nothing, []string{
			"Bearer", "Bearer\t$TOKEN", "Bearer $TOKEN $TOKEN", "Bearer $TOKEN,$TOKEN", `Bearer "$TOKEN"`,
		}},
		{"Authorization", refused(2003), nothing, []string{
			"Bearer $UNKNOWN", "Bearer eyJhbGciOiJub25lIn0.e30.", "Bearer $TOKEN0", "Bearer $LOWER",
			"Bearer " + strings.Repeat("a", 4000),
		}},
		{"Authorization", refused(2003), expiredToken, []string{"Bearer $EXPIRED_TOKEN"}},
		{"Authorization", refused(2003), revokedToken, []string{"Bearer $REVOKED_TOKEN"}},
		{"Authorization", isNoPlant, nothing, []string{"bearer $TOKEN", "BEARER $TOKEN", "Bearer   $TOKEN"}},
		{"Content-Type", refused(1001), nothing, []string{
			"text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
			"application/problem+json", "application/jsonp", "application", "json", "*/*", "application/json, text/plain",
		}},
		{"Content-Type", isNoPlant, nothing, []string{
			"Application/JSON", "application/json;charset=UTF-8", "application/json ; x=y; z", "application/json;",
		}},
		{"Idempotency-Key", refused(1006), nothing, []string{"", long + "k", "a b", "schlüssel"}},
		{"Idempotency-Key", isNoPlant, nothing, []string{"!", "~", `{"json":[1,2]}`, long}},
	} {
		for _, value := range row.values {
			steps := []step{post(header(row.header, value), noPlant, row.want)}
			cases = append(cases, conversation{fmt.Sprintf("%s: %.50q", row.header, value), row.needs, steps})
		}
	}
	twice := header("Authorization", "Bearer $TOKEN", "Bearer $TOKEN")
	return append(cases, one("Authorization twice", twice, noPlant, refused(2002)),
		one("no Content-Type", header("Content-Type"), noPlant, isNoPlant))
}

// bodies returns a case for each body that is no NewPlant.
func bodies() (cases []conversation) {
	for _, row := range []struct {
		want   want
		bodies []string
	}{
		{refused(1002), []string{""}},
		{refused(1003), []string{
			// TestJSONTestSuite has more.
			" \n", `{"id":$1,"name":"oak"`, `{"id":$1,"name":"oak"}{"id":$2,"name":"oak"}`, `{"id":$1,"name":"oak",}`,
			`{id:$1,name:"oak"}`, `{"id":0$1,"name":"oak"}`, `{"id":$1,"name":"\x"}`, `{"id":$1,"name":"oak","x":[1,]}`,
			`{"id":$1,"name":"\ud800"}`, `{"id":$1,"name":"\udc00\ud800"}`, `{"id":$1,"name":"oak","x":"\ud83c"}`,
			"{\"id\":$1,\"name\":\"a\x00b\"}", "\uFEFF" + oak, `{"id":$1,"id":$1,"name":"oak"}`, `id=1&name=oak`,
			`{"id":$1,"name":"oak","t\u0061g":"","tag":""}`, `{"id":$1,"name":"oak","x":{"y":1,"y":1}}`,
			`{"id":$1,"name":"oak","x":` + nested(10_000) + `}`,
			// Invalid UTF-8, an overlong encoding, a surrogate, UTF-16, a cut character.
			"{\"id\":$1,\"name\":\"\xff\"}", "{\"id\":$1,\"name\":\"\xc0\xaf\"}", "{\"id\":$1,\"name\":\"\xed\xa0\x80\"}",
			"\xff\xfe{\x00}\x00", "{\"id\":$1,\"name\":\"oak\"}\xe2\x82", "{\"id\":$1,\"name\":\"oak\",\"\x80\":1}",
		}},
		{isNoPlant, []string{`null`, `true`, `[]`, `1`, `"oak"`, `[{"id":$1,"name":"oak"}]`}},
		{invalid("id is required"), []string{`{"name":"oak"}`}},
		{invalid("id is required; name is required"), []string{`{}`, `{"ID":$1,"NAME":"oak"}`}},
		{invalid("id must be an integer; name must be a string; tag must be a string"), []string{
			`{"tag":null,"name":1,"id":"$1"}`,
		}},
		{invalid("id must be an integer"), []string{
			`{"id":null,"name":"oak"}`, `{"id":"$1","name":"oak"}`, `{"id":true,"name":"oak"}`, `{"id":[$1],"name":"oak"}`,
			`{"id":{},"name":"oak"}`, `{"id":1.5,"name":"oak"}`, `{"id":1e-1,"name":"oak"}`, `{"id":1e-999999999,"name":"oak"}`,
		}},
		{invalid("id must be from -9223372036854775808 to 9223372036854775807"), []string{
			`{"id":9223372036854775808,"name":"oak"}`, `{"id":-9223372036854775809,"name":"oak"}`, `{"id":1e19,"name":"oak"}`,
			`{"id":1e999999999,"name":"oak"}`, `{"id":-1E+99999999999999999999,"name":"oak"}`,
		}},
		{invalid("name is required"), []string{
			`{"id":$1}`, `{"id":$1,"Name":"oak"}`,
			// These are ids, or the message would be about the id.
			`{"id":0}`, `{"id":-0.0}`, `{"id":-1}`, `{"id":1e3}`, `{"id":0e999999999}`,
			`{"id":9223372036854775807}`, `{"id":-9223372036854775808}`, `{"id":9.223372036854775807e18}`,
		}},
	} {
		for _, body := range row.bodies {
			c := one(fmt.Sprintf("the body %.80q", body), nil, body, row.want)
			if !utf8.ValidString(body) {
				c.needs = rawBytes
			}
			cases = append(cases, c)
		}
	}
	return cases
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// texts returns cases for each text of a NewPlant in openapi.yaml, which plant.Decode decodes.
func texts() (cases []conversation) {
	for _, name := range membersOfType("string") {
		with := func(value string) string {
			return strings.Replace(`{"id":$1,"name":"","`+name+`":`+value+`}`, `"name":"","name"`, `"name"`, 1)
		}
		plantWith := func(value string) want { return created(strings.Replace(with(value), `"id":$1,`, "", 1)) }
		cases = append(cases,
			writes("plant.Decode: a short "+name, post(nil, with(`"fern"`), plantWith(`"fern"`))),
			writes("plant.Decode: an empty "+name, post(nil, with(`""`), plantWith(`""`))),
			one("plant.Decode: "+name+" one byte too large", nil, with(`"`+strings.Repeat("n", plant.MaxSize+1)+`"`), refused(1005)))
		for _, value := range []string{"null", "1", "true", `["oak"]`, "{}"} {
			cases = append(cases, one("plant.Decode: "+name+" "+value, nil, with(value), invalid(name+" must be a string")))
		}
	}
	return cases
}

func sizes() []conversation {
	n := func(count int) string { return strings.Repeat("n", count) }
	body := func(name, tag string) string { return `{"id":$1,"name":"` + name + `","tag":"` + tag + `"}` }
	largest, unknown := n(plant.MaxSize-2), `{"id":$1,"name":"oak","x":"`+n(2*plant.MaxSize)+`"}`
	return []conversation{
		one("name and tag together one byte too large, in bytes", nil, body(largest+"n", "ü"), refused(1005)),
		writes("the largest plant", post(nil, body(largest, "ü"), created(`{"name":"`+largest+`","tag":"ü"}`))),
		writes("a large unknown member", post(nil, unknown, isOak)),
	}
}

// A request that is wrong in several ways gets the error of the first check.
func order() []conversation {
	text := http.Header{"Content-Type": {"text/plain"}, "Idempotency-Key": {"a b"}}
	noToken := http.Header{"Authorization": nil, "Content-Type": {"text/plain"}, "Idempotency-Key": {"a b"}}
	large := `{"id":"x","name":"` + strings.Repeat("n", plant.MaxSize+1) + `"}`
	return []conversation{
		one("authentication comes before the content type", noToken, `{`, refused(2001)),
		one("authentication comes before the body", header("Authorization"), "", refused(2001)),
		one("the content type comes before the idempotency key", text, `{`, refused(1001)),
		one("the idempotency key comes before the body", header("Idempotency-Key", "a b"), "", refused(1006)),
		one("form comes before types", nil, `{"id":"x","name":"oak"`, refused(1003)),
		one("types come before the size", nil, large, invalid("id must be an integer")),
	}
}

package contract

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"plantstore/internal/api"
	"plantstore/internal/plant"
)

func cases() []testCase {
	return slices.Concat(probe(), routes(), authorization(), contentTypes(), idempotencyKeys(), precedence(),
		malformed(), invalidPlants(), texts(), sizes(), plants(), ids(), duplicates(), gatewayAnswers())
}

// noPlant is a body that creates no plant, and isNoPlant its answer if nothing else is wrong.
const noPlant = `[]`

var isNoPlant = invalid("it must be an object")

// routes returns a case for each operation: nobody may use it without a token.
func routes() []testCase {
	parameter := regexp.MustCompile(`\{\w+\}`)
	var all []testCase
	for _, route := range api.Routes() {
		method, path, _ := strings.Cut(route, " ")
		request := call(method, parameter.ReplaceAllString(path, "1"), "").with("Authorization")
		all = append(all, one("no token for "+strings.ReplaceAll(route, "/", " "), request.gets(refused(2001))))
	}
	return all
}

// headerCase returns a case of a request that has this value of a header and creates no plant.
func headerCase(name string, needs need, header, value string, want want) testCase {
	request := post(noPlant).with(header, value)
	return testCase{name: name, needs: needs, steps: []step{request.gets(want)}}
}

// authorization returns a case for each kind of Authorization header. internal/api has more of malformed ones.
func authorization() []testCase {
	rows := []struct {
		name  string
		needs need
		value string
		want  want
	}{
		{"an empty Authorization header", nothing, "", refused(2001)},
		{"another scheme", nothing, "Basic dXNlcjpwYXNz", refused(2001)},
		{"a token without a scheme", nothing, "$TOKEN", refused(2001)},
		{"a scheme without a token", nothing, "Bearer", refused(2002)},
		{"two tokens", nothing, "Bearer $TOKEN $TOKEN", refused(2002)},
		{"a token in quotes", nothing, `Bearer "$TOKEN"`, refused(2002)},
		{"an unknown token", nothing, "Bearer $UNKNOWN", refused(2003)},
		{"a token with one character changed", nothing, "Bearer $FORGED", refused(2003)},
		{"a token with one character more", nothing, "Bearer $TOKEN0", refused(2003)},
		{"a token in lower case", nothing, "Bearer $LOWER", refused(2003)},
		{"a JWT without a signature", nothing, "Bearer eyJhbGciOiJub25lIn0.e30.", refused(2003)},
		{"a token of 4000 characters", nothing, "Bearer " + strings.Repeat("a", 4000), refused(2003)},
		{"an expired token", expiredToken, "Bearer $EXPIRED_TOKEN", refused(2003)},
		{"a revoked token", revokedToken, "Bearer $REVOKED_TOKEN", refused(2003)},
		{"a scheme in another case", nothing, "bEARER $TOKEN", isNoPlant},
		{"three spaces before the token", nothing, "Bearer   $TOKEN", isNoPlant},
	}
	twice := post(noPlant).with("Authorization", "Bearer $TOKEN", "Bearer $TOKEN")
	all := []testCase{one("two Authorization headers", twice.gets(refused(2002)))}
	for _, row := range rows {
		all = append(all, headerCase(row.name, row.needs, "Authorization", row.value, row.want))
	}
	return all
}

func contentTypes() []testCase {
	rows := []struct {
		name, value string
		want        want
	}{
		{"plain text", "text/plain", refused(1001)},
		{"JSON as text", "text/json", refused(1001)},
		{"a form", "application/x-www-form-urlencoded", refused(1001)},
		{"a form of several parts", "multipart/form-data; boundary=x", refused(1001)},
		{"JSON of another kind", "application/problem+json", refused(1001)},
		{"a longer subtype", "application/jsonp", refused(1001)},
		{"no subtype", "application", refused(1001)},
		{"no type", "json", refused(1001)},
		{"any type", "*/*", refused(1001)},
		{"two types", "application/json, text/plain", refused(1001)},
		{"JSON twice", "application/json,application/json", refused(1001)},
		{"a parameter alone", "; charset=x", refused(1001)},
		{"a letter that folds to s", "application/jſon", refused(1001)},
		{"another case, and parameters", "Application/JSON ; charset=x; y", isNoPlant},
		{"a parameter without a space", "application/json;charset=UTF-8", isNoPlant},
		{"an empty parameter", "application/json;", isNoPlant},
	}
	all := []testCase{one("content type: none", post(noPlant).with("Content-Type").gets(isNoPlant))}
	for _, row := range rows {
		all = append(all, headerCase("content type: "+row.name, nothing, "Content-Type", row.value, row.want))
	}
	return all
}

func idempotencyKeys() []testCase {
	rows := []struct {
		name  string
		needs need
		value string
		want  want
	}{
		{"empty", nothing, "", refused(1006)},
		{"with a space", nothing, "a b", refused(1006)},
		{"with a tab", nothing, "a\tb", refused(1006)},
		{"with a tab at its end", rawHeaders, "a\t", refused(1006)},
		{"with a control character", rawHeaders, "a\x7f", refused(1006)},
		{"with a letter beyond ASCII", nothing, "schlüssel", refused(1006)},
		{"of 256 characters", nothing, strings.Repeat("k", 256), refused(1006)},
		{"of 255 characters", nothing, strings.Repeat("k", 255), isNoPlant},
		{"of the first visible character", nothing, "!", isNoPlant},
		{"of the last visible character", nothing, "~", isNoPlant},
		{"of JSON", nothing, `{"json":[1,2]}`, isNoPlant},
	}
	var all []testCase
	for _, row := range rows {
		all = append(all, headerCase("a key "+row.name, row.needs, "Idempotency-Key", row.value, row.want))
	}
	return all
}

// precedence returns cases of requests that are wrong in several ways. The first check gives the error.
func precedence() []testCase {
	allWrong := post(`{`).with("Authorization").with("Content-Type", "text/plain").with("Idempotency-Key", "a b")
	large := `{"id":"x","name":"` + strings.Repeat("n", plant.MaxSize+1) + `"}`
	return []testCase{
		one("authentication comes first", allWrong.gets(refused(2001))),
		one("the content type comes second", allWrong.with("Authorization", "Bearer $TOKEN").gets(refused(1001))),
		one("the idempotency key comes before the body", post("").with("Idempotency-Key", "a b").gets(refused(1006))),
		one("syntax comes before types", post(`{"id":"x","name":"fern"`).gets(refused(1003))),
		one("types come before the size", post(large).gets(invalid("id must be an integer"))),
	}
}

// malformed returns a case for each way in which a body is not JSON. TestJSONTestSuite has more.
func malformed() []testCase {
	rows := []struct{ name, body string }{
		{"only white space", " \n"},
		{"a form", `id=1&name=fern`},
		{"half an object", `{"id":$1,"name":"fern"`},
		{"two objects", `{"id":$1,"name":"fern"}{"id":$2,"name":"fern"}`},
		{"a comma at the end", `{"id":$1,"name":"fern",}`},
		{"a name without quotes", `{id:$1,name:"fern"}`},
		{"a zero before a number", `{"id":0$1,"name":"fern"}`},
		{"an unknown escape", `{"id":$1,"name":"\x"}`},
		{"an unknown member that is malformed", `{"id":$1,"name":"fern","x":[1,]}`},
		{"a NUL in a text", "{\"id\":$1,\"name\":\"a\x00b\"}"},
		{"a byte order mark", "\uFEFF" + fern},
		{"half a surrogate pair", `{"id":$1,"name":"\ud800"}`},
		{"a surrogate pair in reverse", `{"id":$1,"name":"\udc00\ud800"}`},
		{"half a surrogate pair in an unknown member", `{"id":$1,"name":"fern","x":"\ud83c"}`},
		{"a name twice", `{"id":$1,"id":$1,"name":"fern"}`},
		{"a name twice, once with an escape", `{"id":$1,"name":"fern","t\u0061g":"","tag":""}`},
		{"a name twice in an unknown member", `{"id":$1,"name":"fern","x":{"y":1,"y":1}}`},
		{"one level too deep", `{"id":$1,"name":"fern","x":` + nested(10_000) + `}`},
		{"a byte that is not UTF-8", "{\"id\":$1,\"name\":\"\xff\"}"},
		{"a longer UTF-8 than needed", "{\"id\":$1,\"name\":\"\xc0\xaf\"}"},
		{"a surrogate in UTF-8", "{\"id\":$1,\"name\":\"\xed\xa0\x80\"}"},
		{"a byte that is not UTF-8 in an unknown name", "{\"id\":$1,\"name\":\"fern\",\"\x80\":1}"},
		{"a byte that is not UTF-8 in an array", "[\"\xff\"]"},
		{"half a character after the object", "{\"id\":$1,\"name\":\"fern\"}\xe2\x82"},
		{"UTF-16", "\xff\xfe{\x00}\x00"},
	}
	all := []testCase{one("no body", post("").gets(refused(1002)))}
	for _, row := range rows {
		c := one("malformed: "+row.name, post(row.body).gets(refused(1003)))
		if !utf8.ValidString(row.body) {
			c.needs = rawBytes
		}
		all = append(all, c)
	}
	return all
}

func nested(depth int) string { return strings.Repeat("[", depth) + strings.Repeat("]", depth) }

// invalidPlants returns a case for each body that is JSON and no NewPlant. The reason of a body with an id alone says
// nothing of the id, so the id is valid.
func invalidPlants() []testCase {
	const (
		object   = "it must be an object"
		noID     = "id is required"
		noName   = "name is required"
		integer  = "id must be an integer"
		inRange  = "id must be from -9223372036854775808 to 9223372036854775807"
		allWrong = "id must be an integer; name must be a string; tag must be a string"
	)
	rows := []struct{ name, body, reason string }{
		{"null", `null`, object},
		{"a boolean", `true`, object},
		{"an array", `[{"id":$1,"name":"fern"}]`, object},
		{"a number", `1`, object},
		{"a text", `"fern"`, object},
		{"no id", `{"name":"fern"}`, noID},
		{"an empty object", `{}`, noID + "; " + noName},
		{"names in another case", `{"ID":$1,"NAME":"fern"}`, noID + "; " + noName},
		{"every member of another type", `{"tag":null,"name":1,"id":"$1"}`, allWrong},
		{"an id null", `{"id":null,"name":"fern"}`, integer},
		{"an id in quotes", `{"id":"$1","name":"fern"}`, integer},
		{"an id true", `{"id":true,"name":"fern"}`, integer},
		{"an id in an array", `{"id":[$1],"name":"fern"}`, integer},
		{"an id that is an object", `{"id":{},"name":"fern"}`, integer},
		{"an id with a fraction", `{"id":1.5,"name":"fern"}`, integer},
		{"an id below one", `{"id":1e-1,"name":"fern"}`, integer},
		{"an id near zero", `{"id":1e-999999999,"name":"fern"}`, integer},
		{"an id above the largest", `{"id":9223372036854775808,"name":"fern"}`, inRange},
		{"an id below the smallest", `{"id":-9223372036854775809,"name":"fern"}`, inRange},
		{"an id with an exponent above the largest", `{"id":1e19,"name":"fern"}`, inRange},
		{"an id with a huge exponent", `{"id":1e999999999,"name":"fern"}`, inRange},
		{"an id with an exponent beyond 64 bits", `{"id":-1E+99999999999999999999,"name":"fern"}`, inRange},
		{"no name", `{"id":$1}`, noName},
		{"a name in another case", `{"id":$1,"Name":"fern"}`, noName},
		{"the id 0", `{"id":0}`, noName},
		{"the id -0.0", `{"id":-0.0}`, noName},
		{"the id -1", `{"id":-1}`, noName},
		{"an id with an exponent", `{"id":1e3}`, noName},
		{"the id 0 with a huge exponent", `{"id":0e999999999}`, noName},
		{"the largest id", `{"id":9223372036854775807}`, noName},
		{"the largest id with an exponent", `{"id":9.223372036854775807e18}`, noName},
		{"the smallest id", `{"id":-9223372036854775808}`, noName},
	}
	var all []testCase
	for _, row := range rows {
		all = append(all, one("no NewPlant: "+row.name, post(row.body).gets(invalid(row.reason))))
	}
	return all
}

// texts returns cases for each member of a NewPlant that openapi.yaml says is a string. plant.Decode decodes them.
func texts() []testCase {
	var all []testCase
	for _, member := range textMembers() {
		with := func(value string) string {
			if member == "name" {
				return `{"id":$1,"name":` + value + `}`
			}
			return `{"id":$1,"name":"fern","` + member + `":` + value + `}`
		}
		creates := func(value string) step {
			return post(with(value)).gets(answered(strings.Replace(with(value), `"id":$1,`, "", 1)))
		}
		isRefused := func(value string) step { return post(with(value)).gets(invalid(member + " must be a string")) }
		large := `"` + strings.Repeat("n", plant.MaxSize+1) + `"`
		all = append(all,
			writes("a short "+member, creates(`"indoor"`)),
			writes("an empty "+member, creates(`""`)),
			one("a "+member+" one byte too large", post(with(large)).gets(refused(1005))),
			one("a "+member+" null", isRefused("null")),
			one("a "+member+" that is a number", isRefused("1")),
			one("a "+member+" true", isRefused("true")),
			one("a "+member+" in an array", isRefused(`["fern"]`)),
			one("a "+member+" that is an object", isRefused("{}")),
		)
	}
	return all
}

func sizes() []testCase {
	largest := strings.Repeat("n", plant.MaxSize-len("ü"))
	tooLarge := `{"id":$1,"name":"` + largest + `n","tag":"ü"}`
	ignored := `{"id":$1,"name":"fern","x":"` + strings.Repeat("n", 2*plant.MaxSize) + `"}`
	return []testCase{
		one("texts together one byte too large", post(tooLarge).gets(refused(1005))),
		writes("the largest plant",
			post(`{"id":$1,"name":"`+largest+`","tag":"\u00fc"}`).gets(answered(`{"name":"`+largest+`","tag":"ü"}`))),
		writes("a large unknown member", post(ignored).gets(isFern)),
	}
}

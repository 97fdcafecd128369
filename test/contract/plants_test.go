package contract

import (
	"net/http"
	"strings"
)

const (
	fern  = `{"id":$1,"name":"fern"}`
	ficus = `{"id":$1,"name":"ficus"}`
)

var (
	isFern = answered(`{"name":"fern"}`)
	exists = refused(3001)
)

// probe is the one case that writes where only one plant may be written.
func probe() []testCase {
	repeat := firstProbe()
	return []testCase{{
		name:  "a retry after a lost answer gets the answer again",
		needs: ownPlant,
		steps: []step{
			firstProbe(),
			repeat,
			post(probePlant).gets(exists),
			post(ficus).with("Idempotency-Key", "probe-$1").gets(refused(3002)),
			repeat,
		},
	}}
}

const probePlant = `{"id":$1,"name":"probe","tag":"contract-probe"}`

// firstProbe returns the request that writes the one plant.
func firstProbe() step {
	return post(probePlant).with("Idempotency-Key", "probe-$1").gets(answered(`{"name":"probe","tag":"contract-probe"}`))
}

// plants returns cases for what a NewPlant may be besides its members.
func plants() []testCase {
	return []testCase{
		writes("a query string changes nothing", call("POST", "/plants?name=ficus&x=1&x=2", fern).gets(isFern)),
		writes("unknown members are ignored", post(` {"id":$1,"name":"fern","Tag":1,"x":null,"y":{"z":[]}} `).gets(isFern)),
		writes("the deepest nesting", post(`{"id":$1,"name":"fern","x":`+nested(9999)+`}`).gets(isFern)),
		writes("escapes in names and values",
			post(`{"\u0069d":$1,"name":"\u00fc\t\"\\\/\ud83c\udf31"}`).gets(answered(`{"name":"ü\t\"\\/🌱"}`))),
		writes("any script, and NUL",
			post(`{"id":$1,"name":"ش 梅 é","tag":"\u0000"}`).gets(answered(`{"name":"ش 梅 é","tag":"\u0000"}`))),
		writes("characters that HTML escapes", post(`{"id":$1,"name":"<a>&\u2028"}`).gets(answered(`{"name":"<a>&\u2028"}`))),
	}
}

func ids() []testCase {
	withID := func(id string) step { return post(`{"id":` + id + `,"name":"fern"}`) }
	same := func(name, id string) testCase { return writes(name, withID(id).gets(isFern), post(fern).gets(exists)) }
	return []testCase{
		writes("a negative id is another id", withID("-$1").gets(isFern), withID("$1").gets(isFern)),
		writes("ids that differ in the last digit are two", withID("$1").gets(isFern), withID("$2").gets(isFern)),
		same("an id with a fraction of zeros is the integer", "$1.000"),
		same("an id with the exponent 0 is the integer", "$1e0"),
		same("an id with a negative exponent is the integer", "$100e-2"),
		same("an id with a fraction and an exponent is the integer", "$1.0E+0"),
	}
}

// duplicates returns cases for requests with the same id. What probe shows is not repeated here.
func duplicates() []testCase {
	const key = "Idempotency-Key"
	long := strings.Repeat("k", 254)
	create := post(fern).gets(isFern)
	createWithKey := post(fern).with(key, "replay-$1").gets(isFern)
	return []testCase{
		writes("another plant of the same id", create, post(ficus).gets(exists)),
		writes("a refused plant does not take its id", post(`{"id":$1}`).gets(invalid("name is required")), create),
		writes("a refused token does not take the id", post(fern).with("Authorization").gets(refused(2001)), create),
		writes("the same key with another tag", createWithKey,
			post(`{"id":$1,"name":"fern","tag":""}`).with(key, "replay-$1").gets(refused(3002))),
		writes("the same plant written in another way", createWithKey,
			post(`{"x":1, "n\u0061me":"fern", "id":$1.0}`).with(key, "replay-$1").gets(isFern)),
		writes("the same key with another id is another request", createWithKey,
			post(`{"id":$2,"name":"fern"}`).with(key, "replay-$1").gets(isFern)),
		writes("a key with one more = is another request", createWithKey, post(fern).with(key, "replay-$1=").gets(exists)),
		writes("a key in another case is another request", createWithKey, post(fern).with(key, "Replay-$1").gets(exists)),
		writes("keys that differ in the 255th character are two",
			post(fern).with(key, long+"a").gets(isFern), post(fern).with(key, long+"b").gets(exists)),
		{
			name:  "a key in two headers is one key",
			needs: joinedHeaders,
			steps: []step{post(fern).with(key, "a-$1", "b-$1").gets(isFern), post(fern).with(key, "a-$1").gets(exists)},
		},
		{
			name:  "the key of another subject is another request",
			needs: anotherToken,
			steps: []step{
				createWithKey,
				post(fern).with(key, "replay-$1").with("Authorization", "Bearer $OTHER_TOKEN").gets(exists),
			},
		},
	}
}

// gatewayAnswers returns cases for requests that do not reach the service.
func gatewayAnswers() []testCase {
	notFound := func(name, method, path string) testCase {
		return testCase{
			name:  name,
			needs: gatewayBodies,
			steps: []step{call(method, path, "").gets(gatewayRefuses(http.StatusNotFound))},
		}
	}
	large := strings.Repeat(" ", 10<<20+1)
	return []testCase{
		{
			name:  "a body over 10 MB",
			needs: gatewayBodies,
			steps: []step{post(large).gets(gatewayRefuses(http.StatusRequestEntityTooLarge))},
		},
		notFound("no route for GET", "GET", "/plants"),
		notFound("no route for PUT", "PUT", "/plants"),
		notFound("no route for PATCH", "PATCH", "/plants"),
		notFound("no route for DELETE", "DELETE", "/plants"),
		notFound("no route for OPTIONS", "OPTIONS", "/plants"),
		notFound("no route with a slash at its end", "POST", "/plants/"),
		notFound("no route in another case", "POST", "/Plants"),
		notFound("no route that is shorter", "POST", "/plant"),
		notFound("no route below the plants", "POST", "/plants/1"),
		notFound("no route at the root", "GET", "/"),
	}
}

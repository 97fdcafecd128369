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
	create = post(fern).gets(isFern)
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

// plants returns cases for what a target may lose of a plant. test/storetest and internal/plant test more values.
func plants() []testCase {
	const texts = `"name":"ش 梅 é 🌱 \u0000\t\"\\","tag":"<a>&\u2028"`
	return []testCase{
		writes("ids that differ in the last digit are two", create, post(`{"id":$2,"name":"fern"}`).gets(isFern)),
		writes("a query string changes nothing", call("POST", "/plants?name=ficus&x=1&x=2", fern).gets(isFern)),
		writes("unknown members are ignored", post(` {"id":$1,"name":"fern","Tag":1,"x":null,"y":{"z":[]}} `).gets(isFern)),
		writes("any character", post(`{"id":$1,`+texts+`}`).gets(answered(`{`+texts+`}`))),
	}
}

// duplicates returns cases for requests with the same id. What probe shows is not repeated here.
func duplicates() []testCase {
	const key = "Idempotency-Key"
	long := strings.Repeat("k", 254)
	withKey := create.with(key, "replay-$1")
	return []testCase{
		writes("another plant of the same id", create, post(ficus).gets(exists)),
		writes("a refused request does not take its id",
			post(fern).with("Authorization").gets(refused(2001)), post(`{"id":$1}`).gets(invalid("name is required")), create),
		writes("keys that differ in the 255th character are two",
			post(fern).with(key, long+"a").gets(isFern), post(fern).with(key, long+"b").gets(exists)),
		{
			name:  "the key of another subject is another request",
			needs: anotherToken,
			steps: []step{withKey, withKey.with("Authorization", "Bearer $OTHER_TOKEN").gets(exists)},
		},
	}
}

// gatewayAnswers returns cases for requests that do not reach the service. internal/gateway tests more paths.
func gatewayAnswers() []testCase {
	tooLarge := post(strings.Repeat(" ", 10<<20+1)).gets(gatewayRefuses(http.StatusRequestEntityTooLarge))
	notFound := func(method, path string) step {
		return call(method, path, "").gets(gatewayRefuses(http.StatusNotFound))
	}
	otherMethods := []step{
		notFound("GET", "/plants"), notFound("PUT", "/plants"), notFound("PATCH", "/plants"),
		notFound("DELETE", "/plants"), notFound("OPTIONS", "/plants"),
	}
	otherPaths := []step{notFound("POST", "/plants/"), notFound("POST", "/plants/1"), notFound("GET", "/")}
	return []testCase{
		{name: "a body over 10 MB", needs: gatewayBodies, steps: []step{tooLarge}},
		{name: "no route for another method", needs: gatewayBodies, steps: otherMethods},
		{name: "no route for another path", needs: gatewayBodies, steps: otherPaths},
	}
}

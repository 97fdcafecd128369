package contract

import (
	"fmt"
	"net/http"
	"strings"

	"plantstore/test/openapitest"
)

// Two plants of the same id.
var (
	fern   = openapitest.NewPlant("$1", openapitest.Plant(0))
	ficus  = openapitest.NewPlant("$1", openapitest.Plant(1))
	isFern = answered(openapitest.Plant(0))
	exists = refused(3001)
	create = post(fern).gets(isFern)
)

// probe is the one case that writes where only one plant may be written.
func probe() testCase {
	first := firstProbe()
	return testCase{
		name:    "a retry after a lost answer gets the answer again",
		isProbe: true,
		steps: []step{
			first,
			first,
			first.with(idempotencyKey).gets(exists),
			post(fern).with(idempotencyKey, "probe-$1").gets(refused(3002)),
			first,
		},
	}
}

// firstProbe returns the request that writes the one plant.
func firstProbe() step {
	all := openapitest.PlantOf(func(string) string { return "contract-probe" })
	return post(openapitest.NewPlant("$1", all)).with(idempotencyKey, "probe-$1").gets(answered(all))
}

// plants returns cases for what a target may lose of a plant. test/storetest and internal/plant test more values.
func plants() []testCase {
	unknown := []string{`"x":null`, `"y":{"z":[]}`}
	for _, member := range openapitest.Members("NewPlant") {
		unknown = append(unknown, fmt.Sprintf("%q:1", strings.ToUpper(member)))
	}
	second := openapitest.NewPlant("$2", openapitest.Plant(0))
	return []testCase{
		several("ids that differ in the last digit are two", create, post(second).gets(isFern)),
		one("a query string changes nothing", call("POST", "/plants?x=1&x=2", fern).gets(isFern)),
		one("unknown members are ignored", post(" "+and(fern, strings.Join(unknown, ","))+" ").gets(isFern)),
	}
}

// duplicates returns cases for requests with the same id. What probe shows is not repeated here.
func duplicates() []testCase {
	long := strings.Repeat("k", 254)
	withKey := create.with(idempotencyKey, "replay-$1")
	return []testCase{
		several("another plant of the same id", create, post(ficus).gets(exists)),
		several("a refused request does not take its id", post(fern).with("Authorization").gets(refused(2001)), create),
		several("keys that differ in the 255th character are two",
			create.with(idempotencyKey, long+"a"), create.with(idempotencyKey, long+"b").gets(exists)),
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

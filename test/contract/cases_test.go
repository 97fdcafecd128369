package contract

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"plantstore/internal/api"
	"plantstore/internal/plant"
	"plantstore/test/openapitest"
)

func cases() []testCase {
	return slices.Concat([]testCase{probe()}, routes(), authorization(), headers(), bodies(), keys(), texts(), plants(), duplicates())
}

// noPlant is a body that creates no plant, and isNoPlant its answer if nothing else is wrong.
const noPlant = `[]`

var isNoPlant = invalid("it must be an object")

// routes returns a case for each operation: nobody may use it without a token.
func routes() []testCase {
	var all []testCase
	for _, route := range api.Routes() {
		method, path, _ := strings.Cut(route, " ")
		request := call(method, path, "").with("Authorization")
		all = append(all, one("no token for "+strings.ReplaceAll(route, "/", " "), request.gets(refused(2001))))
	}
	return all
}

// authorization returns a case for each kind of token. internal/api tests the header, internal/token
// and internal/jwt the tokens.
func authorization() []testCase {
	with := func(values ...string) step { return post(noPlant).with("Authorization", values...) }
	return []testCase{
		one("a token in quotes", with(`Bearer "$TOKEN"`).gets(refused(2002))),
		one("two Authorization headers", with("Bearer $TOKEN", "Bearer $TOKEN").gets(refused(2002))),
		one("an unknown token", with("Bearer $UNKNOWN").gets(refused(2003))),
		one("a token of 9000 characters", with("Bearer "+strings.Repeat("a", 9000)).gets(refused(2003))),
		{name: "an expired token", needsOther: true, steps: []step{with("Bearer $EXPIRED_TOKEN").gets(refused(2003))}},
		{name: "a revoked token", needsOther: true, steps: []step{with("Bearer $REVOKED_TOKEN").gets(refused(2003))}},
	}
}

// headers returns cases for the other headers. internal/api tests more values.
func headers() []testCase {
	contentType := func(values ...string) step { return post(noPlant).with("Content-Type", values...) }
	key := func(value string) step { return post(noPlant).with(idempotencyKey, value) }
	return []testCase{
		one("no content type", contentType().gets(isNoPlant)),
		one("a content type in another case, with parameters", contentType("Application/JSON ; charset=x; y").gets(isNoPlant)),
		one("another content type", contentType("text/plain").gets(refused(1001))),
		one("an empty key", key("").gets(refused(1006))),
		one("a key with a space", key("a b").gets(refused(1006))),
		one("a key with a letter beyond ASCII", key("schlüssel").gets(refused(1006))),
	}
}

// bodies returns a case for each error of a body. internal/plant tests what is malformed and what is no
// NewPlant.
func bodies() []testCase {
	largest, tooLarge := plantOfSize(plant.MaxSize), plantOfSize(plant.MaxSize+1)
	return []testCase{
		one("no body", post("").gets(refused(1002))),
		one("a body that is not JSON", post("id=1&name=fern").gets(refused(1003))),
		one("a byte order mark", post("\uFEFF"+fern).gets(refused(1003))),
		one("the largest plant", post(openapitest.NewPlant("$1", largest)).gets(answered(largest))),
		one("a plant one byte too large", post(openapitest.NewPlant("$1", tooLarge)).gets(refused(1005))),
	}
}

// keys returns cases for keys just beyond the bounds that openapi.yaml sets.
func keys() []testCase {
	var all []testCase
	for _, beyond := range []struct {
		rule string
		step int64
	}{{"minimum", -1}, {"maximum", 1}, {"minLength", -1}, {"maxLength", 1}} {
		rule := openapitest.At("components", "schemas", "NewPlant", "properties", openapitest.Key(), beyond.rule)
		bound, ok := new(big.Int).SetString(fmt.Sprint(rule), 10)
		if !ok || beyond.rule == "minLength" && bound.Sign() == 0 {
			continue // nothing is beyond it
		}
		value := bound.Add(bound, big.NewInt(beyond.step))
		id := value.String()
		if strings.HasSuffix(beyond.rule, "Length") {
			id = strings.Repeat("k", int(value.Int64()))
		}
		request := post(openapitest.NewPlant(id, openapitest.Plant(0)))
		all = append(all, one("a key beyond its "+beyond.rule, request.gets(invalid(openapitest.Key()+" "))))
	}
	return all
}

// plantOfSize returns a plant whose texts together have this size in bytes, which is one more than in
// characters.
func plantOfSize(size int) string {
	return openapitest.PlantWith(openapitest.Texts()[0], "ü"+strings.Repeat("n", size-len("ü")))
}

// texts returns cases for the members of a Plant that openapi.yaml says are texts.
func texts() []testCase {
	empty := openapitest.PlantOf(func(string) string { return "" })
	special := openapitest.PlantOf(func(member string) string { return "ش 梅 é 🌱 \x00\t\"\\<a>&\u2028" + member })
	return []testCase{
		one("any character", post(openapitest.NewPlant("$1", special)).gets(answered(special))),
		one("each text empty", post(openapitest.NewPlant("$1", empty)).gets(answered(empty))),
	}
}

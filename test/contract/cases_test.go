package contract

import (
	"slices"
	"strings"

	"plantstore/internal/plant"
	"plantstore/test/openapitest"
)

// cases returns every case but those of [probes].
func cases() []testCase {
	return slices.Concat(authorization(), headers(), bodies(), plants(), duplicates())
}

// noPlant is a body that creates no plant, and gets the error 1004 if nothing else is wrong.
const noPlant = `[]`

// authorization returns a case for each error of a token. internal/api tests the header, internal/token
// the tokens.
func authorization() []testCase {
	with := func(values ...string) step { return post(noPlant).with("Authorization", values...) }
	return []testCase{
		conversation("no token", with().gets(refused(2001))),
		conversation("the scheme in lower case", with("bearer $TOKEN").gets(refused(1004))),
		conversation("another scheme", with("Basic $TOKEN").gets(refused(2001))),
		conversation("two Authorization headers", with("Bearer $TOKEN", "Bearer $TOKEN").gets(refused(2002))),
		conversation("a token of 9000 characters", with("Bearer "+strings.Repeat("a", 9000)).gets(refused(2003))),
	}
}

// headers returns cases for the other headers. internal/api tests more values.
func headers() []testCase {
	contentType := func(values ...string) step { return post(noPlant).with("Content-Type", values...) }
	key := func(value string) step { return post(noPlant).with(idempotencyKey, value) }
	return []testCase{
		conversation("no content type", contentType().gets(refused(1004))),
		conversation("a content type with a character set", contentType("application/json; charset=utf-8").gets(refused(1004))),
		conversation("another content type", contentType("text/plain").gets(refused(1001))),
		conversation("a key with a space", key("a b").gets(refused(1006))),
	}
}

// bodies returns cases for the errors of a body, and for the largest plant, which the gateway may lose.
// internal/plant tests what is malformed and what is no NewPlant.
func bodies() []testCase {
	largest, tooLarge := plantOfSize(plant.MaxSize), plantOfSize(plant.MaxSize+1)
	return []testCase{
		conversation("no body", post("").gets(refused(1002))),
		conversation("a byte order mark", post("\uFEFF"+fern).gets(refused(1003))),
		conversation("an id of another type", post(openapitest.WithKey("true", openapitest.Plant(0))).gets(refused(1004))),
		conversation("a lone surrogate", post(openapitest.NewPlant("$1", `{"`+openapitest.Texts()[0]+`":"\ud800"}`)).gets(refused(1003))),
		conversation("the largest plant", post(openapitest.NewPlant("$1", largest)).gets(created("$1", largest)), post(fern).gets(exists)),
		conversation("a plant one byte too large", post(openapitest.NewPlant("$1", tooLarge)).gets(refused(1005))),
	}
}

// plantOfSize returns a plant whose texts together have this size in bytes, which is one more than in
// characters.
func plantOfSize(size int) string {
	return openapitest.PlantWith(openapitest.Texts()[0], "ü"+strings.Repeat("n", size-len("ü")))
}

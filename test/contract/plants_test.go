package contract

import (
	"strings"

	"plantstore/test/openapitest"
)

// A plant, and what its requests get.
var (
	fern   = openapitest.NewPlant("$1", openapitest.Plant(0))
	isFern = created("$1", openapitest.Plant(0))
	exists = refused(3001)
	create = post(fern).gets(isFern)
)

// probes returns the cases that write where only one plant may be written: it is the same plant in both.
func probes() []testCase {
	all := openapitest.PlantOf(func(string) string { return "contract-probe" })
	first := post(openapitest.NewPlant("$1", all)).with(idempotencyKey, "probe-$1").gets(created("$1", all))
	steps := []step{first, first, first.with(idempotencyKey).gets(exists)}
	for _, member := range openapitest.Others() {
		changed := openapitest.NewPlant("$1", openapitest.Changed(all, member))
		steps = append(steps, post(changed).with(idempotencyKey, "probe-$1").gets(refused(3002)))
	}
	steps = append(steps, first.with(idempotencyKey, "PROBE-$1").gets(exists))
	return []testCase{
		conversation("a retry after a lost answer gets the answer again", append(steps, first)...),
		conversation("a token that nobody issued creates nothing", first.with("Authorization", "Bearer $FORGED").gets(refused(2003))),
		conversation("subjects do not share keys", first, first.with("Authorization", "Bearer $OTHER").gets(exists)),
	}
}

// plants returns cases for what a target may lose of a plant. test/storetest and internal/plant test
// more values.
func plants() []testCase {
	empty := openapitest.PlantOf(func(string) string { return "" })
	special := openapitest.PlantOf(func(member string) string { return "ش 梅 é 🌱 \x00\t\"\\<a>&\u2028" + member })
	withUnknown := strings.TrimSuffix(fern, "}") + `,"x":null,"y":{"z":[]}}`
	second := openapitest.NewPlant("$2", openapitest.Plant(0))
	return []testCase{
		conversation("any character", post(openapitest.NewPlant("$1", special)).gets(created("$1", special))),
		conversation("each text empty", post(openapitest.NewPlant("$1", empty)).gets(created("$1", empty))),
		conversation("ids that differ in the last digit are two", create, post(second).gets(created("$2", openapitest.Plant(0)))),
		conversation("a negative id is stored",
			post(openapitest.NewPlant("$-1", openapitest.Plant(0))).gets(created("$-1", openapitest.Plant(0))),
			post(openapitest.NewPlant("$-1", openapitest.Plant(1))).gets(exists)),
		conversation("a query string changes nothing", call("POST", "/plants?x=1&x=2", fern).gets(isFern)),
		conversation("unknown members are ignored", post(" "+withUnknown+" ").gets(isFern)),
	}
}

// duplicates returns cases for requests with the same id, and for the longest key. What [probes]
// and TestProbe show is not repeated here.
func duplicates() []testCase {
	longest, _ := openapitest.At("components", "parameters", "Idempotency-Key", "schema", "maxLength").(int)
	long := strings.Repeat("k", longest-1)
	return []testCase{
		conversation("a refused request does not take its id",
			post(fern).with("Authorization").gets(refused(2001)),
			post(fern).with("Authorization", "Bearer $FORGED").gets(refused(2003)),
			create),
		conversation("the longest keys that differ in the last character are two",
			create.with(idempotencyKey, long+"a"), create.with(idempotencyKey, long+"b").gets(exists)),
		conversation("a longer key is refused", post(noPlant).with(idempotencyKey, long+"ab").gets(refused(1006))),
	}
}

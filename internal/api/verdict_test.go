package api

import (
	"encoding/json/v2"
	"errors"
	"slices"
	"strings"
	"testing"

	"plantstore/internal/token"
)

// versionBefore has the verdicts that a function of the version before understands, and its answers. The
// authorizer gives no other, because the two meet. A new verdict is added here in one release, and given in
// the next.
var versionBefore = map[string]int32{
	`{"verdict":"allow","presented":"$1","subject":"alice","token_id":"t1"}`: 0,
	`{"verdict":"deny","presented":"$1"}`:                                    2003,
	`{"verdict":"unavailable","presented":"$1"}`:                             5003,
}

// While a deployment shifts traffic, each function may meet the other's version before, with any error.
func TestVerdictsOfTwoVersions(t *testing.T) {
	presented := strings.NewReplacer("$1", token.Digest(credentials))
	var known []string
	for text, want := range versionBefore {
		given := presented.Replace(text)
		known = append(known, given)
		var v verdict
		if err := json.Unmarshal([]byte(given), &v); err != nil {
			t.Fatal(err)
		}
		_, err := v.principalFor(credentials)
		if got := classify(err).code; got != want {
			t.Errorf("after the verdict %s of an older authorizer, the function answers %d, want %d", given, got, want)
		}
	}
	ends := []error{nil, errors.New("an error that is not in the catalogue")}
	for _, e := range catalogue {
		if e.target != nil {
			ends = append(ends, e.target)
		}
	}
	for _, end := range ends {
		content, err := json.Marshal(newVerdict(credentials, token.Principal{Subject: "alice", TokenID: "t1"}, classify(end)))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(known, string(content)) {
			t.Errorf("if the check ends with %v, the authorizer's verdict is %s, which an older function does not know", end, content)
		}
	}
}

package contract

import (
	"encoding/base64"
	"math/rand/v2"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/token"
	"plantstore/test/processtest"
)

// presentations returns the Authorization headers of requests, one of each kind, with other random choices each time.
func (s *service) presentations(r *rand.Rand) [][]string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	valid, expired, revoked := s.tokens["TOKEN"], s.tokens["EXPIRED_TOKEN"], s.tokens["REVOKED_TOKEN"]
	full := "Bearer " + valid
	at, cut := len(valid)-1-r.IntN(36), r.IntN(len(full))
	foreign := one("ä", "\u00a0", "\u200b", "\u202e", "\uFEFF", "🌱", "\xff", "\xc0\xa0", "а", "Ａ", "\u212a")
	marked := one(`"_"`, "<_>", "'_'", "token=_", `token="_"`, "_=", "_;", "Bearer:_")
	return [][]string{
		{full},
		{one("bearer ", "BEARER ", "beAReR ", "Bearer  ", "Bearer     ") + valid},
		nil,
		{one("", " ", " "+full, "\t"+full, full+" ", full+"\t")},
		{full[:cut]},
		{full[1+cut%46:]},
		{full[:cut/2] + full[cut/2+1+r.IntN(20):]},
		{full + one("", " ", ",", ";", "\t") + one(valid, full)},
		{full, one(full, "Bearer "+revoked, "", "Basic x")},
		{one("", "Bearer", "Bearer "+revoked, "Basic x"), full},
		{full[:cut] + one(",", ", ", "\t", foreign) + full[cut:]},
		{"Bearer" + one("\t", " \t", ",", "", foreign) + one(valid, full)},
		{"Bearer " + one(strings.ToLower(valid), strings.ToUpper(valid), strings.ToUpper(valid[:3])+valid[3:])},
		{strings.Replace(full, one("e", "a", "p", "_"), one("е", "а", "р", "＿"), 1)}, // looks alike
		{"Bearer " + strings.Replace(marked, "_", valid, 1)},
		{one("Basic", "Token", "Bearers", "Bear", "DPoP", "x Bearer", "Bearer,", "Bearer:", "") + " " + valid},
		{"Bearer " + one(url.QueryEscape(valid+"\n"), base64.StdEncoding.EncodeToString([]byte(valid)), token.Digest(valid))},
		{"Bearer " + one("a", valid[:4], "null", "eyJhbGciOiJub25lIn0.e30.", strings.Repeat("a", 3000))},
		{"Bearer " + one(expired, revoked, valid[:at]+one("0", "a", "Z")+valid[at+1:])},
	}
}

var (
	bearerScheme = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr]([ \t]|$)`)
	bearerToken  = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr] +([0-9A-Za-z._~+/=-]+)$`)
)

// checkAuthorization sends a request with Authorization headers, compares the answer with an oracle, and returns its
// code. No part of a token is in the answer or in the log, which has one line of each function.
func (s *service) checkAuthorization(t *testing.T, lines ...string) (code int) {
	t.Helper()
	want, valid := 2001, s.tokens["TOKEN"]
	value := strings.Join(lines, ",") // as API Gateway joins them
	switch match := bearerToken.FindStringSubmatch(value); {
	case match != nil && match[1] == valid:
		want = 0
	case match != nil:
		want = 2003
	case bearerScheme.MatchString(value):
		want = 2002
	}
	got := s.try(t, `{"id":1,"name":"oak"}`, lines...)
	code, _, _, err := s.outcome(got)
	created, log := s.plants.plant.Name != "", s.log.String()
	if err != nil || code != want || created != (code == 0) || strings.Count(log, "\n") != 2 ||
		holdsPart(got.String()+log, append(lines, valid)...) {
		t.Errorf("POST with Authorization %q = %s, %v, created: %t; want code %d, two lines of log and no token in them\n%s",
			lines, got, err, created, want, log)
	}
	return code
}

// Nothing but a valid token opens the service.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	s, r := newService(t), rand.New(rand.NewPCG(processtest.Seed(t), 0))
	repeat(t, processtest.Scale(2_500, 10_000), []int{0, 2001, 2002, 2003}, func() int {
		all := s.presentations(r)
		return s.checkAuthorization(t, all[r.IntN(len(all))]...)
	})
}

// The service answers each Authorization value as the oracle says.
func FuzzAuthorization(f *testing.F) {
	s, r := newService(f), rand.New(rand.NewPCG(1, 1))
	for range 5 {
		for _, lines := range s.presentations(r) {
			f.Add(strings.Join(lines, ","))
		}
	}
	f.Fuzz(func(t *testing.T, value string) { s.checkAuthorization(t, value) })
}

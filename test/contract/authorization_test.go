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

// presentation returns the Authorization headers of a request: often one that opens the service, changed in some places.
func (s *service) presentation(r *rand.Rand) []string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	valid, at := s.tokens["TOKEN"], r.IntN(36)
	secret := one(valid, valid, one(strings.ToLower(valid), valid[:4+at]+one("0", "a", "Z")+valid[5+at:],
		s.tokens["EXPIRED_TOKEN"], s.tokens["REVOKED_TOKEN"], token.Digest(valid), url.QueryEscape(valid+"\n"),
		base64.StdEncoding.EncodeToString([]byte(valid)), "eyJhbGciOiJub25lIn0.e30.", strings.Repeat("a", 3000), ""))
	scheme := one("Bearer ", "beAReR ", one("Bearer    ", "Bearer\t", "Bearer", "Basic ", "DPoP ", "Bearers ", ""))
	line := scheme + secret
	for range []int{0, 0, 1, 2}[r.IntN(4)] {
		from := r.IntN(len(line) + 1)
		to := min(len(line), from+r.IntN(3))
		line = line[:from] + one("", "", " ", "\t", ",", ";", `"`, "=", "_", "a", valid, "Bearer ", "ä", "\u00a0", "\u200b", "\uFEFF",
			"🌱", "\xff", "\xc0\xa0", "а", "Ａ", "\u212a") + line[to:]
	}
	return [][]string{{line}, {line}, {line}, {line}, {line}, nil, {""}, {line, one(line, "", "Basic x")}}[r.IntN(8)]
}

var (
	bearerScheme = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr]([ \t]|$)`)
	bearerToken  = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr] +([0-9A-Za-z._~+/=-]+)$`)
)

// checkAuthorization sends a request with Authorization headers, compares the answer with an oracle, and returns its
// code. No part of a token but its id, as such, is in the log, which has one line of each function, and none in the
// answer.
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
	id, _ := token.ID(valid) // the one part of a token that the log may contain
	text := got.String() + strings.ReplaceAll(log, `"token_id":"`+id+`"`, "")
	if err != nil || code != want || created != (code == 0) || strings.Count(log, "\n") != 2 ||
		holdsPart(text, append(lines, valid)...) {
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
		return s.checkAuthorization(t, s.presentation(r)...)
	})
}

// The service answers each Authorization value as the oracle says.
func FuzzAuthorization(f *testing.F) {
	s, r := newService(f), rand.New(rand.NewPCG(1, 1))
	for range 100 {
		f.Add(strings.Join(s.presentation(r), ","))
	}
	f.Fuzz(func(t *testing.T, value string) { s.checkAuthorization(t, value) })
}

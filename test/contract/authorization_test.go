package contract

import (
	"encoding/base64"
	"hash/crc32"
	"math/rand/v2"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/token"
	"plantstore/test/processtest"
)

// presentations returns the Authorization headers of requests, one of each kind, with other random
// choices each time.
func presentations(r *rand.Rand, valid, expired, revoked string) [][]string {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	random := func(n int) (text string) {
		for range n {
			text += string(alphabet[r.IntN(len(alphabet))])
		}
		return text
	}
	at, full, unknown := 4+r.IntN(30), "Bearer "+valid, checksummed("pst_"+random(30))
	flipped, cut := valid[:at]+random(1)+valid[at+1:], r.IntN(len(full))
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
		{full, one(full, "Bearer "+unknown, "", "Basic x")},
		{one("", "Bearer", "Bearer "+revoked, "Basic x"), full},
		{full[:cut] + one(",", ", ", "\t", foreign) + full[cut:]},
		{"Bearer" + one("\t", " \t", ",", "", foreign) + one(valid, full)},
		{"Bearer " + one(strings.ToLower(valid), strings.ToUpper(valid), "PST"+valid[3:])},
		{strings.Replace(full, one("e", "a", "p", "_"), one("е", "а", "р", "＿"), 1)}, // looks alike
		{"Bearer " + strings.Replace(marked, "_", valid, 1)},
		{one("Basic", "Token", "Bearers", "Bear", "DPoP", "x Bearer", "Bearer,", "Bearer:", "") + " " + valid},
		{"Bearer " + one(url.QueryEscape(valid+"\n"), base64.StdEncoding.EncodeToString([]byte(valid)), token.Digest(valid))},
		{one("", "Bearer ", full) + random(r.IntN(60))},
		{"Bearer " + one("a", "pst_", "null", "eyJhbGciOiJub25lIn0.e30.", strings.Repeat("a", 3000))},
		{"Bearer " + one(flipped, checksummed(flipped[:34]), checksummed(valid[:34]+one("0", "a")))},
		{"Bearer " + one(unknown, expired, revoked)},
	}
}

// The digits to the base 62.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// checksummed returns body with its checksum, in digits to the base 62.
func checksummed(body string) string {
	sum, digits := crc32.ChecksumIEEE([]byte(body)), ""
	for range 6 {
		digits = string(alphabet[sum%62]) + digits
		sum /= 62
	}
	return body + digits
}

var (
	bearerScheme = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr]([ \t]|$)`)
	bearerToken  = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr] +([0-9A-Za-z._~+/=-]+)$`)
	tokenForm    = regexp.MustCompile(`^pst_[0-9A-Za-z]{36}$`)
)

// checkAuthorization sends a request with Authorization headers and compares the answer with an
// oracle. It returns the code and the body.
//
// The store is read once for each token that could be one, and never for what cannot be one. No
// part of a token is in the answer or in the log, which has one line of each function.
func (s *service) checkAuthorization(t *testing.T, lines ...string) (code int, body string) {
	t.Helper()
	want, reads, valid := 2001, 0, s.target.tokens["TOKEN"]
	value := strings.Join(lines, ",") // as API Gateway joins them
	switch match := bearerToken.FindStringSubmatch(value); {
	case match != nil && match[1] == valid:
		want, reads = 0, 1
	case match != nil && tokenForm.MatchString(match[1]) && checksummed(match[1][:34]) == match[1]:
		want, reads = 2003, 1
	case match != nil:
		want = 2003
	case bearerScheme.MatchString(value):
		want = 2002
	}
	got := s.ask(t, "POST /plants", http.Header{"Authorization": lines}, `{"id":1,"name":"oak"}`)
	code, _, _, err := s.outcome(got)
	created, log := s.plants.plant.Name != "", s.log.String()
	if err != nil || code != want || s.tokens.reads != reads || created != (code == 0) ||
		strings.Count(log, "\n") != 2 || holdsPart(got.String()+log, append(lines, valid)...) {
		t.Errorf("POST with Authorization %q = %s, %v, created: %t, %d reads; "+
			"want code %d, %d reads and no token in the log\n%s", lines, got, err, created, s.tokens.reads, want, reads, log)
	}
	return code, string(got.body)
}

// Nothing but a valid token opens the service, and answers with the same code are the same.
func TestAuthorization(t *testing.T) {
	t.Parallel()
	s, r := newService(t, nil), rand.New(rand.NewPCG(processtest.Seed(t), 0))
	codes, bodies, secrets := map[int]int{}, map[int]string{}, s.target.tokens
	total := processtest.Scale(2_500, 10_000)
	for number := 0; number < total && !t.Failed(); number++ {
		all := presentations(r, secrets["TOKEN"], secrets["EXPIRED_TOKEN"], secrets["REVOKED_TOKEN"])
		lines := all[r.IntN(len(all))]
		code, body := s.checkAuthorization(t, lines...)
		if known, ok := bodies[code]; ok && known != body {
			t.Errorf("POST with Authorization %q = %s, want %s like every other", lines, body, known)
		}
		codes[code]++
		bodies[code] = body
	}
	for _, code := range []int{0, 2001, 2002, 2003} {
		if !t.Failed() && codes[code] < total/20 {
			t.Errorf("%d of %d answers got code %d, want 5 %% or more, or they show little", codes[code], total, code)
		}
	}
}

// The service answers each Authorization value as the oracle says.
func FuzzAuthorization(f *testing.F) {
	s, r := newService(f, nil), rand.New(rand.NewPCG(1, 1))
	secrets := s.target.tokens
	for range 5 {
		for _, lines := range presentations(r, secrets["TOKEN"], secrets["EXPIRED_TOKEN"], secrets["REVOKED_TOKEN"]) {
			f.Add(strings.Join(lines, ","))
		}
	}
	f.Fuzz(func(t *testing.T, value string) { s.checkAuthorization(t, value) })
}

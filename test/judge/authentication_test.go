package judge

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/token"
	"plantstore/test/processtest"
)

// secrets are the tokens that headers are made of. Only one of them opens.
type secrets struct{ valid, expired, revoked string }

// A presentation is a request's Authorization headers, one a line.
type presentation struct {
	name  string
	lines []string
}

// presentations returns one of each kind, with other random choices each time.
func presentations(r *rand.Rand, s secrets) []presentation {
	one := func(of ...string) string { return of[r.IntN(len(of))] }
	put := func(text, piece string) string { i := r.IntN(len(text) + 1); return text[:i] + piece + text[i:] }
	flip := func(text string) string { // another character of the alphabet, after the prefix
		i := 4 + r.IntN(len(text)-4)
		return text[:i] + string(newToken(r)[4+r.IntN(30)]) + text[i+1:]
	}
	scheme := []byte("bearer")
	for i := range scheme {
		scheme[i] ^= byte(r.IntN(2)) << 5 // the other case
	}
	noise := make([]byte, r.IntN(60))
	for i := range noise {
		noise[i] = byte(' ' + r.IntN(0x7f-' '))
	}
	piece := one("ä", "\u00a0", "\u200b", "\u202e", "\uFEFF", "🌱", "\xff", "\xc0\xa0", "а", "Ａ", "\u0130", "\u212a")
	valid, full := s.valid, "Bearer "+s.valid
	return []presentation{
		{"the token", []string{full}},
		{"the scheme in any case", []string{string(scheme) + " " + valid}},
		{"several spaces", []string{"Bearer" + strings.Repeat(" ", 1+r.IntN(5)) + valid}},
		{"white space around", []string{one("", " ", "\t") + full + one("", " ", "\t ")}},

		{"no header", nil},
		{"nothing", []string{one("", " ")}},
		{"the end cut", []string{full[:r.IntN(len(full))]}},
		{"the start cut", []string{full[1+r.IntN(len(full)-1):]}},
		{"a piece cut out", []string{full[:r.IntN(20)] + full[20+r.IntN(20):]}},
		{"the token twice", []string{full + one("", " ", ",", ";", "\t") + valid}},
		{"the header twice in one", []string{full + one("", " ", ",", ", ", ";") + full}},
		{"the scheme twice", []string{"Bearer" + one("", " ", ",", "\t") + full}},
		{"two headers", []string{full, one(full, "Bearer "+newToken(r), "", "Basic x")}},
		{"two headers, the valid one last", []string{one("", "Bearer", "Bearer "+s.revoked, "Basic x"), full}},
		{"a comma", []string{put(full, one(",", ", "))}},
		{"the token in another case", []string{"Bearer " + one(strings.ToLower(valid), strings.ToUpper(valid), strings.Replace(valid, "pst", "PST", 1))}},
		{"what is not ASCII", []string{put(full, piece)}},
		{"what is not ASCII for a space", []string{"Bearer" + piece + valid}},
		{"a letter that looks like another", []string{strings.Replace(full, one("e", "a", "p", "_"), one("е", "а", "р", "＿"), 1)}},
		{"a tab", []string{one("Bearer\t"+valid, "Bearer \t"+valid, "Bearer\t "+valid, put(full, "\t"))}},
		{"marks around the token", []string{"Bearer " + strings.Replace(one(`"_"`, "<_>", "'_'", "token=_", `token="_"`, "_=", "_;", "Bearer:_"), "_", valid, 1)}},
		{"another scheme", []string{one("Basic", "Token", "Bearers", "Bear", "DPoP", "x Bearer", "Bearer,", "Bearer:", "") + " " + valid}},
		{"the token encoded", []string{"Bearer " + one(url.QueryEscape(valid+"\n"), base64.StdEncoding.EncodeToString([]byte(valid)), token.Digest(valid))}},
		{"printable noise", []string{one("", "Bearer ", full) + string(noise)}},
		{"no token of ours", []string{"Bearer " + one("a", "pst_", "null", "undefined", "eyJhbGciOiJub25lIn0.e30.", strings.Repeat("a", 3000))}},
		{"one character off", []string{"Bearer " + flip(valid)}},
		{"one character off, with the right checksum", []string{"Bearer " + checksummed(flip(valid)[:34])}},
		{"a character more, with the right checksum", []string{"Bearer " + checksummed(valid[:34]+one("0", "a"))}},
		{"an unknown token", []string{"Bearer " + newToken(r)}},
		{"an expired token", []string{"Bearer " + s.expired}},
		{"a revoked token", []string{"Bearer " + s.revoked}},
	}
}

// Nothing but a valid token opens the service, whatever is tried. Answers of one
// code are the same, and so is the work for each token that could be one: the
// store is asked once. What cannot be one, which is no secret, is refused without
// asking. No part of a token is in a log or an answer.
func TestAuthenticationFromOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(processtest.Seed(t), 0))
	s := newService(t)
	var sent secrets
	codes, bodies := map[int]int{}, map[int]string{}
	for number := range 10_000 {
		if number%100 == 0 { // another valid token, and the last one is revoked
			sent = s.renew(t, sent.valid)
		}
		all := presentations(r, sent)
		p := all[r.IntN(len(all))]
		s.tokens.reads = 0
		code, body := s.present(t, p)
		if want, reads := s.want(p.lines); code != want || s.tokens.reads != reads {
			t.Errorf("%s: POST with Authorization %q = %d after %d reads, want %d after %d", p.name, p.lines, code, s.tokens.reads, want, reads)
		}
		if known, ok := bodies[code]; ok && known != body {
			t.Errorf("%s: POST with Authorization %q = %s, want %s like every other", p.name, p.lines, body, known)
		}
		codes[code]++
		bodies[code] = body
		if t.Failed() {
			return
		}
	}
	t.Logf("answers by their codes: %v", codes)
	for _, code := range []int{0, 2001, 2002, 2003} {
		if codes[code] < 500 {
			t.Errorf("%d answers of 10,000 were %d, want 500 or more, or they show little", codes[code], code)
		}
	}
}

// service is the gateway before both functions, and what it has logged.
type service struct {
	judge
	url    string
	tokens *countingStore
	log    *bytes.Buffer     // written by one request at a time
	valid  map[string]string // ids of the tokens that open
	last   int64             // id of a plant
}

// countingStore counts its reads.
type countingStore struct {
	memory.TokenStore
	reads int
}

func (s *countingStore) Find(ctx context.Context, digest string) (token.Token, error) {
	s.reads++
	return s.TokenStore.Find(ctx, digest)
}

func newService(t *testing.T) *service {
	t.Helper()
	s := &service{judge: newJudge(t), tokens: new(countingStore), log: new(bytes.Buffer), valid: map[string]string{}}
	log := slog.New(slog.NewJSONHandler(s.log, nil))
	server := httptest.NewUnstartedServer(&gateway.Gateway{
		Authorizer: &api.Authorizer{Tokens: token.Verifier{Store: s.tokens, Now: clock}, Log: log, Now: clock},
		Routes: map[string]gateway.Function{
			"POST /plants": &api.CreatePlant{Plants: new(memory.PlantStore), Log: log, Now: clock, NewKey: crand.Text},
		},
		Log:   log,
		Now:   clock,
		NewID: func() string { return "r1" },
	})
	server.Config.ErrorLog = slog.NewLogLogger(log.Handler(), slog.LevelError)
	server.Start()
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// renew returns fresh tokens. The revoked one was valid until now, which renew
// sees for itself.
func (s *service) renew(t *testing.T, old string) secrets {
	t.Helper()
	fresh := secrets{valid: s.issue(t, now), expired: s.issue(t, now.Add(-time.Hour)), revoked: old}
	delete(s.valid, fresh.expired)
	if old == "" {
		fresh.revoked = s.issue(t, now)
	}
	p := presentation{"a token about to be revoked", []string{"Bearer " + fresh.revoked}}
	before, _ := s.present(t, p)
	if err := s.tokens.Revoke(t.Context(), s.valid[fresh.revoked]); err != nil {
		t.Fatal(err)
	}
	delete(s.valid, fresh.revoked)
	if after, _ := s.present(t, p); before != 0 || after != 2003 {
		t.Errorf("%s: POST = %d before and %d after, want 0 and 2003", p.name, before, after)
	}
	return fresh
}

// issue adds a token that expires an hour after at.
func (s *service) issue(t *testing.T, at time.Time) string {
	t.Helper()
	secret, issued, err := token.Issue(crand.Reader, "gardener", at, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.tokens.Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	s.valid[secret] = issued.ID
	return secret
}

var (
	bearerScheme = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr]([ \t]|$)`)
	bearerToken  = regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr] +([0-9A-Za-z._~+/=-]+)$`)
)

// want returns the code that Authorization headers must get, and how often the
// store is asked. HTTP takes white space away around each, and API Gateway joins
// them by a comma.
func (s *service) want(lines []string) (code, reads int) {
	var values []string
	for _, line := range lines {
		values = append(values, strings.Trim(line, " \t"))
	}
	value := strings.Join(values, ",")
	match := bearerToken.FindStringSubmatch(value)
	switch {
	case match != nil && s.valid[match[1]] != "":
		return 0, 1
	case match != nil && wellFormedToken(match[1]):
		return 2003, 1
	case match != nil:
		return 2003, 0
	case bearerScheme.MatchString(value):
		return 2002, 0
	}
	return 2001, 0
}

// present sends a request for a new plant and returns the code and the body of
// the answer. It fails the test where a part of a token is in the answer or in
// what was logged.
func (s *service) present(t *testing.T, p presentation) (code int, body string) {
	t.Helper()
	s.log.Reset()
	s.last++
	plant := fmt.Sprintf(`{"id":%d,"name":"oak"}`, s.last)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/plants", strings.NewReader(plant))
	if err != nil {
		t.Fatal(err)
	}
	request.Header["Authorization"] = p.lines
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("%s: POST with Authorization %q: %v", p.name, p.lines, err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if code, _, err = s.outcome(fmt.Sprint(response.StatusCode), string(content)); err != nil {
		t.Errorf("%s: POST with Authorization %q: %v", p.name, p.lines, err)
	}
	said := fmt.Sprint(response.Header, string(content), s.log)
	if leak := s.leak(p.lines, said); leak != "" {
		t.Errorf("%s: POST with Authorization %q left %q in %s", p.name, p.lines, leak, said)
	}
	if lines := strings.Count(s.log.String(), "\n"); lines != 2 {
		t.Errorf("%s: POST with Authorization %q logged %d lines, want one of each function:\n%s", p.name, p.lines, lines, s.log)
	}
	return code, string(content)
}

var randomCharacters = regexp.MustCompile(`[0-9A-Za-z]{8,}`)

// leak returns eight characters of the headers or of a valid token that are in
// what was said, in any case, or nothing.
func (s *service) leak(lines []string, said string) string {
	said = strings.ToLower(said)
	texts := randomCharacters.FindAllString(strings.Join(lines, " "), -1)
	for secret := range s.valid {
		texts = append(texts, secret[len("pst_"):])
	}
	for _, text := range texts {
		for i := range len(text) - 7 {
			if part := strings.ToLower(text[i : i+8]); strings.Contains(said, part) {
				return part
			}
		}
	}
	return ""
}

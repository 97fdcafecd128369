package judge

import (
	"bytes"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"plantstore/internal/memory"
	"plantstore/internal/token"
)

// A body is judged as the schema judges it.
func FuzzDecode(f *testing.F) {
	for _, body := range bodies() {
		f.Add([]byte(body))
	}
	for _, c := range slices.Concat(mustAccept(), mustRefuse(), mayAccept(), mayRefuse()) {
		if len(c.text) < 10_000 {
			f.Add([]byte(c.text))
			f.Add([]byte(`{"id":` + c.text + `,"name":"oak"}`))
			f.Add([]byte(`{"id":1,"name":"oak","x":` + c.text + `}`))
		}
	}
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, body []byte) { _ = j.check(t, "fuzz", body) })
}

// An Authorization value opens the service if it is Bearer, in any case, spaces
// and the token, and no other does.
func FuzzAuthorization(f *testing.F) {
	authorizer, secret := newAuthorizer(f)
	r := rand.New(rand.NewPCG(1, 1))
	for range 5 {
		for _, p := range presentations(r, secrets{valid: secret, expired: newToken(r), revoked: newToken(r)}) {
			f.Add(strings.Join(p.lines, ","))
		}
	}
	opens := opensWith(secret)
	f.Fuzz(func(t *testing.T, value string) {
		out, err := authorizer.Invoke(t.Context(), request{header: "authorization", value: value}.event())
		verdict := verdictOf(t, out, err)
		if got, want := verdict["verdict"] == "allow", opens.MatchString(value); got != want {
			t.Errorf("Invoke(%q) = %v, want allow to be %t", value, verdict, want)
		}
		// What is not UTF-8 no event can hold.
		if got, want := verdict["presented"], hash(value); got != want && utf8.ValidString(value) {
			t.Errorf("Invoke(%q) = %v, want %s presented", value, verdict, want)
		}
	})
}

// opensWith returns what an Authorization value must be to open the service with
// the token.
func opensWith(secret string) *regexp.Regexp {
	return regexp.MustCompile(`^[Bb][Ee][Aa][Rr][Ee][Rr] +` + secret + `$`)
}

// verdictOf returns the context of the authorizer's answer, which must be
// "authorized" and a verdict.
func verdictOf(t *testing.T, out []byte, err error) map[string]any {
	t.Helper()
	value, _ := read(out)
	answer, _ := value.(map[string]any)
	context, _ := answer["context"].(map[string]any)
	if err != nil || answer["isAuthorized"] != true || !slices.Contains([]any{"allow", "deny", "unavailable"}, context["verdict"]) {
		t.Errorf("Invoke = %s, %v, want a verdict, authorized", out, err)
	}
	return context
}

// A token has the form of ours if it is prefix, random characters and checksum.
func FuzzToken(f *testing.F) {
	_, secret := newAuthorizer(f)
	for _, s := range []string{
		"", "pst_", secret, secret[:39], secret + "0", secret[:39] + "~", strings.ToLower(secret), "PST_" + secret[4:], " " + secret, secret[:20] + "é" + secret[22:],
		"pst_UnknownTokenOfTheEventsFolder04BhG5y", "pst_" + strings.Repeat("0", 36), "pst_" + strings.Repeat("-", 30), strings.Repeat("z", 40), "pst_\x00",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		// Few texts have the right checksum by themselves.
		body := (s + strings.Repeat("0", 34))[:34]
		for _, s := range []string{s, checksummed(s), checksummed(body), checksummed("pst_" + body[4:])} {
			if got, want := token.WellFormed(s), wellFormedToken(s); got != want {
				t.Errorf("WellFormed(%q) = %t, want %t", s, got, want)
			}
		}
	})
}

var tokenForm = regexp.MustCompile(`^pst_[0-9A-Za-z]{30}[0-9A-Za-z]{6}$`)

func wellFormedToken(s string) bool { return tokenForm.MatchString(s) && checksummed(s[:34]) == s }

// checksummed returns body with its checksum: the CRC-32 by its definition, bit
// by bit, and its digits by math/big, which has the two cases the other way round.
func checksummed(body string) string {
	sum := ^uint32(0)
	for i := range len(body) {
		sum ^= uint32(body[i])
		for range 8 {
			sum = sum>>1 ^ 0xEDB88320&-(sum&1)
		}
	}
	digits := strings.Map(func(digit rune) rune {
		if unicode.IsUpper(digit) {
			return unicode.ToLower(digit)
		}
		return unicode.ToUpper(digit)
	}, big.NewInt(int64(^sum)).Text(62))
	return body + strings.Repeat("0", 6-len(digits)) + digits
}

// newToken returns an unknown token with the right checksum.
func newToken(r *rand.Rand) string {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	body := []byte("pst_")
	for range 30 {
		body = append(body, alphabet[r.IntN(len(alphabet))])
	}
	return checksummed(string(body))
}

// An idempotency key is 1 to 255 visible ASCII characters, or it is refused.
func FuzzIdempotencyKey(f *testing.F) {
	for _, key := range []string{
		"", "k", "!~", " ", "a b", "\t", "\x00", "\x1f", "\x7f", "\x80", "\xff", "ä", "🌱", "\uFFFD", "k\n", `"\u0061"`, `\ud800`, "a,b", "k,",
		strings.Repeat("k", 255), strings.Repeat("k", 256), strings.Repeat("ä", 128),
	} {
		f.Add(key)
	}
	valid := regexp.MustCompile(`^[!-~]{1,255}$`)
	j := newJudge(f)
	f.Fuzz(func(t *testing.T, key string) {
		sent := request{header: "idempotency-key", value: key, body: []byte(`{"id":1,"name":"oak"}`)}
		want := 1006
		if valid.MatchString(key) {
			want = 0
		}
		if got, _, err := j.create(t, new(memory.PlantStore), sent); got != want || err != nil {
			t.Errorf("Invoke with the key %q = %d, %v, want %d", key, got, err, want)
		}
	})
}

// Whatever comes in, both functions give an answer of the contract; and only an
// event with an allow for its very Authorization value creates a plant.
func FuzzEvent(f *testing.F) {
	authorizer, secret := newAuthorizer(f)
	for _, event := range sampleEvents(f, secret) {
		f.Add(event)
	}
	j, opens := newJudge(f), opensWith(secret)
	f.Fuzz(func(t *testing.T, event []byte) {
		out, err := newCreatePlant(new(memory.PlantStore)).Invoke(t.Context(), event)
		code, _, err := j.answer(out, err)
		if err != nil {
			t.Errorf("Invoke(%q) = %v, want an answer of the contract", event, err)
		}
		if err == nil && code == 0 && !allows(event) {
			t.Errorf("Invoke(%q) = %s, want no plant without an allow", event, out)
		}
		out, err = authorizer.Invoke(t.Context(), event)
		if verdict := verdictOf(t, out, err); verdict["verdict"] == "allow" {
			if authorization, _ := held(event); !opens.MatchString(authorization) || verdict["presented"] != hash(authorization) {
				t.Errorf("Invoke(%q) = %s, want no allow of %q", event, out, authorization)
			}
		}
	})
}

func sampleEvents(f *testing.F, secret string) [][]byte {
	f.Helper()
	body := []byte(`{"id":1,"name":"oak","tag":"tree"}`)
	allowed := request{header: "authorization", value: "Bearer " + secret, body: body}.event()
	instead := func(of, by string) []byte { return bytes.Replace(allowed, []byte(of), []byte(by), 1) }
	events := [][]byte{
		allowed,
		instead("Bearer", "bearer"), // so the allow is for another value
		instead(`"presented"`, `"x"`),
		instead(`"subject"`, `"x"`),
		instead(`"verdict":"allow"`, `"verdict":"deny","reason":"missing"`),
		instead(`"verdict":"allow"`, `"verdict":"Allow"`),
		request{header: "authorization", value: "Bearer " + secret, body: body, text: true}.event(),
		request{header: "Content-Type", value: "application/json", body: body, text: true}.event(),
		request{header: "idempotency-key", value: "k", body: body}.event(),
		request{header: "x-\xff", value: "\xff", body: []byte("\xff"), text: true}.event(),
		[]byte(`{"headers":{"authorization":"Bearer a","Authorization":"Bearer b"},"requestContext":{}}`),
		[]byte(`{"headers":null,"body":null,"requestContext":{"authorizer":{"lambda":null}}}`),
		[]byte(`{"requestContext":{"authorizer":{"lambda":{"verdict":"unavailable","presented":"` + hash("") + `"}}}}`),
		nil, []byte("null"), []byte("[]"), []byte("{}"), []byte(`"x"`), []byte(`{"headers":[]}`), []byte(`{"isBase64Encoded":1}`),
	}
	files, err := filepath.Glob("../../events/*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("sample events = %v, %v, want some", files, err)
	}
	for _, file := range files {
		event, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		events = append(events, event)
	}
	return events
}

// allows reports whether the event holds an allow for its Authorization value.
func allows(event []byte) bool {
	authorization, verdict := held(event)
	return slices.Contains(verdict["verdict"], "allow") && slices.Contains(verdict["presented"], hash(authorization)) &&
		verdict["subject"] != nil && verdict["token_id"] != nil
}

// held returns the Authorization value that the event holds, and the strings of
// the verdict in it, under their names. An event may say a thing twice: API
// Gateway writes it, so it is not judged.
func held(event []byte) (authorization string, verdict map[string][]string) {
	var values []string
	verdict = map[string][]string{}
	_ = walk(json.NewDecoder(bytes.NewReader(event)), nil, func(path []string, text string) {
		switch {
		case len(path) == 2 && path[0] == "headers" && len(path[1]) == len("authorization") && strings.EqualFold(path[1], "authorization"):
			values = append(values, text)
		case len(path) == 4 && slices.Equal(path[:3], []string{"requestContext", "authorizer", "lambda"}):
			verdict[path[3]] = append(verdict[path[3]], text)
		}
	})
	return strings.Join(values, ","), verdict
}

// walk calls found with each string that is in objects alone.
func walk(d *json.Decoder, path []string, found func(path []string, text string)) error {
	next, err := d.Token()
	if err != nil {
		return err
	}
	switch next := next.(type) {
	case string:
		found(path, next)
	case json.Delim:
		for d.More() {
			name := "[]"
			if next == '{' {
				token, err := d.Token()
				if err != nil {
					return err
				}
				name, _ = token.(string)
			}
			if err := walk(d, append(slices.Clip(path), name), found); err != nil {
				return err
			}
		}
		_, err = d.Token()
	}
	return err
}

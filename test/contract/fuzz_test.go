package contract

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"plantstore/internal/plant"
)

// The service answers and stores each body as the oracle says.
func FuzzDecode(f *testing.F) {
	for _, body := range corpus() {
		f.Add(body)
	}
	suite(f, func(_, text string) { f.Add(text) })
	s := newService(f, nil)
	f.Fuzz(func(t *testing.T, text string) {
		for _, body := range bodiesWith(text) {
			s.checkBody(t, body)
		}
	})
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
	f.Fuzz(func(t *testing.T, value string) { s.checkAuthorization(t, secrets["TOKEN"], value) })
}

// An idempotency key is 1 to 255 visible ASCII characters, or it is refused.
func FuzzIdempotencyKey(f *testing.F) {
	for _, key := range []string{"", "k", "!~", "a b", "\t", "\x7f", "\xff", "ä", "🌱", "k\n", `\ud800`, strings.Repeat("k", 256)} {
		f.Add(key)
	}
	valid, s := regexp.MustCompile(`^[!-~]{1,255}$`), newService(f, nil)
	f.Fuzz(func(t *testing.T, key string) {
		header := http.Header{"Authorization": {"Bearer " + s.target.tokens["TOKEN"]}, "Idempotency-Key": {key}}
		got := s.ask(t, "POST /plants", header, `{"id":1,"name":"oak"}`)
		code, _, _, err := s.outcome(got)
		if err != nil || code != 0 && code != 1006 || valid.MatchString(key) != (code == 0) {
			t.Errorf("POST with the key %q = %s, %v, want it created or 1006", key, got, err)
		}
	})
}

// Whatever the event is, the function gives an answer of the contract; and it creates a plant only
// if the event holds the word allow and the hash of an Authorization value.
func FuzzEvent(f *testing.F) {
	files, err := filepath.Glob("../../events/*/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("the sample events are %v, %v, want some", files, err)
	}
	for _, file := range files {
		event, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(event)
		f.Add(bytes.Replace(event, []byte("Bearer"), []byte("bearer"), 1)) // an allow for another value
		f.Add(bytes.Replace(event, []byte(`"allow"`), []byte(`"Allow"`), 1))
	}
	for _, event := range []string{"", "null", "[]", `{"headers":[]}`, `{"isBase64Encoded":1}`, `{"body":"\xff"}`} {
		f.Add([]byte(event))
	}
	s := newService(f, nil)
	f.Fuzz(func(t *testing.T, event []byte) {
		s.plants.plant = plant.NewPlant{}
		out, err := s.gateway.CreatePlant.Invoke(t.Context(), event)
		var got struct {
			StatusCode int
			Headers    map[string]string
			Body       string
		}
		if err == nil {
			err = json.Unmarshal(out, &got)
		}
		a := answer{got.StatusCode, http.Header{}, []byte(got.Body)}
		for name, value := range got.Headers {
			a.header.Set(name, value)
		}
		if err == nil {
			_, _, _, err = s.outcome(a)
		}
		texts := textsOf(event)
		presented := func(text string) bool {
			return slices.Contains(texts, fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
		}
		allowed := slices.Contains(texts, "allow") && slices.ContainsFunc(append(texts, ""), presented)
		if created := s.plants.plant.Name != ""; err != nil || created && !allowed {
			t.Errorf("Invoke(%q) = %s, %v, created: %t, allowed: %t", event, out, err, created, allowed)
		}
	})
}

// textsOf returns the strings of a JSON text, wherever they are.
func textsOf(event []byte) (texts []string) {
	for decoder := json.NewDecoder(bytes.NewReader(event)); ; {
		next, err := decoder.Token()
		if err != nil {
			return texts
		}
		if text, ok := next.(string); ok {
			texts = append(texts, text)
		}
	}
}

package contract

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json/v2"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/openapitest"
)

// A target is a service to check.
type target struct {
	url    string
	tokens map[string]string // TOKEN, EXPIRED_TOKEN, REVOKED_TOKEN, OTHER_TOKEN
	lacks  map[need]string   // why a need is not met
	only   int64             // the one plant that may be written; 0 if all may
	log    *bytes.Buffer     // of a service in process, otherwise nil
}

// probeID returns the one plant that all runs for a subject write.
func probeID(subject string) int64 {
	sum := sha256.Sum256([]byte("contract-probe of " + subject))
	return 1<<62 + int64(binary.BigEndian.Uint64(sum[:])>>2) //nolint:gosec // it has 62 bits
}

// An answer is what a target answers to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %.300s %v", a.status, a.body, a.header) }

// fill returns s with the id of this number, the next id and the target's tokens in the places of $1, $2, $TOKEN and so on.
func (target target) fill(t *testing.T, s step, id int64) step {
	t.Helper()
	secret := target.tokens["TOKEN"]
	unknown, _, err := token.Issue(crand.Reader, "nobody", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	middle, other := len(secret)/2, "0"
	if secret[middle:middle+1] == other {
		other = "1"
	}
	forged := secret[:middle] + other + secret[middle+1:]
	replacements := []string{"$1", openapitest.ID(id), "$2", openapitest.ID(id + 1), "$FORGED", forged, "$UNKNOWN", unknown}
	for name, secret := range target.tokens {
		replacements = append(replacements, "$"+name, secret)
	}
	replacer := strings.NewReplacer(replacements...)
	header := http.Header{}
	for name, values := range s.header {
		for _, value := range values {
			header.Add(name, replacer.Replace(value))
		}
	}
	s.header = header
	s.path = replacer.Replace(s.path)
	s.body = replacer.Replace(s.body)
	s.want.body = replacer.Replace(s.want.body)
	return s
}

// send sends the request of a step that is filled. No answer ends the test.
func (target target) send(t *testing.T, s step) answer {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, s.method, target.url+s.path, strings.NewReader(s.body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = s.header
	response, err := http.DefaultTransport.RoundTrip(request) // which follows no redirect
	if err != nil {
		t.Fatalf("no answer, so that the test ends here: %v", err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	body, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	if err != nil {
		t.Fatal(err)
	}
	return answer{status: response.StatusCode, header: response.Header, body: body}
}

// logged returns what a service in process has logged since the last call, without the ids of the tokens, which are the
// one part of a token that a log may have.
func (target target) logged() string {
	if target.log == nil {
		return ""
	}
	text := target.log.String()
	target.log.Reset()
	for _, secret := range target.tokens {
		if id, ok := token.ID(secret); ok {
			text = strings.ReplaceAll(text, `"token_id":"`+id+`"`, "")
		}
	}
	return text
}

// inProcess starts a service with these stores and returns its address, and what it logs.
func inProcess(t *testing.T, plants plant.Store, tokens token.Store) (address string, logged *bytes.Buffer) {
	t.Helper()
	var buffer bytes.Buffer
	log := slog.New(slog.NewJSONHandler(&buffer, &slog.HandlerOptions{Level: slog.LevelDebug}))
	handler := gateway.New(gateway.Options{
		Authorizer: &api.Authorizer{Verify: token.Verifier{Store: tokens, Now: time.Now}.Verify, Log: log, Now: time.Now},
		Routes:     api.Routes(),
		Function:   &api.Service{Plants: plants, Log: log, Now: time.Now, NewKey: crand.Text},
		Log:        log,
		Now:        time.Now,
		NewID:      crand.Text,
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL, &buffer
}

// fromEnvironment returns the deployment at base.
func fromEnvironment(t *testing.T, base string) target {
	t.Helper()
	found := target{url: base, tokens: map[string]string{}, lacks: map[need]string{}}
	for name, needed := range map[string]need{
		"TOKEN": nothing, "EXPIRED_TOKEN": expiredToken, "REVOKED_TOKEN": revokedToken, "OTHER_TOKEN": anotherToken,
	} {
		found.tokens[name] = os.Getenv(name)
		if found.tokens[name] == "" {
			found.lacks[needed] = name + " is not set"
		}
	}
	if found.tokens["TOKEN"] == "" {
		t.Fatal("TOKEN is not set: export TOKEN=..., then make contract URL=...")
	}
	parsed, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Host == "" || parsed.RawQuery+parsed.Fragment != "" {
		t.Fatalf("URL must be the base address of a service, such as https://example.com, and is %q", base)
	}
	switch writes := os.Getenv("WRITES"); writes {
	case "all":
	case "":
		subject := os.Getenv("SUBJECT")
		if subject == "" {
			fmt.Println("SUBJECT is not set, so each token has a plant of its own; with the token's subject there, each subject has one")
			subject = found.tokens["TOKEN"]
		}
		found.only = probeID(subject)
	default:
		t.Fatalf("WRITES must be all, or not be set, and is %q", writes)
	}
	found.findOut(t)
	return found
}

// findOut ends the test if the target is no Plant Store, refuses the token or does not create the one plant. It adds to
// what the target lacks.
func (target target) findOut(t *testing.T) {
	t.Helper()
	code := target.code(t, post(noPlant))
	if code == 0 {
		t.Fatalf("this is no Plant Store: a POST to %s/plants is not answered with an Error", target.url)
	}
	if code/1000 == 2 {
		t.Fatalf("TOKEN is not valid here: a POST to %s/plants is answered with error %d", target.url, code)
	}
	if target.only != 0 && target.code(t, firstProbe()) == exists.code {
		t.Fatalf("error 3001: another request has created the plant %s, which only runs with this SUBJECT create. "+
			"SUBJECT is not the token's subject, or the service does not recognize its own plants, or it creates none",
			openapitest.ID(target.only))
	}
	// `sam local start-api` has an answer of its own to another route.
	other := string(target.send(t, step{method: "GET", path: "/", header: http.Header{}}).body)
	if strings.HasPrefix(target.url, "http://127.0.0.1:") && strings.Contains(other, "Missing Authentication Token") {
		target.lacks[rawBytes] = "`sam local` itself answers 502 to what is not UTF-8"
		target.lacks[gatewayBodies] = "`sam local` has answers of its own for what API Gateway answers"
	}
	if strings.Contains(target.url, "/_aws/execute-api/") {
		target.lacks[rawBytes] = "the local AWS replaces what is not UTF-8"
		target.lacks[gatewayBodies] = "the local AWS has answers of its own for what API Gateway answers"
	}
}

// code sends a request for the one plant and returns the code of the Error, or 0.
func (target target) code(t *testing.T, s step) int {
	t.Helper()
	got := target.send(t, target.fill(t, s, target.only))
	var refusal struct {
		Error int `json:"error"`
	}
	_ = json.Unmarshal(got.body, &refusal) // it may be no JSON
	return refusal.Error
}

// issueAll stores a token of each kind and returns the secrets.
func issueAll(t *testing.T, store token.Store) map[string]string {
	t.Helper()
	secrets := map[string]string{}
	for _, name := range []string{"TOKEN", "OTHER_TOKEN", "EXPIRED_TOKEN", "REVOKED_TOKEN"} {
		issuedAt := time.Now()
		if name == "EXPIRED_TOKEN" {
			issuedAt = issuedAt.Add(-2 * time.Hour)
		}
		secret, issued, err := token.Issue(crand.Reader, strings.ToLower(name), issuedAt, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Add(t.Context(), issued); err != nil {
			t.Fatal(err)
		}
		if name == "REVOKED_TOKEN" {
			if err := store.Revoke(t.Context(), issued.ID); err != nil {
				t.Fatal(err)
			}
		}
		secrets[name] = secret
	}
	return secrets
}

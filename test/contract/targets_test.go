package contract

import (
	"bytes"
	"cmp"
	"context"
	crand "crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/jwt"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/issuertest"
)

// A target is a service to check.
type target struct {
	url string
	http.RoundTripper
	tokens  map[string]string // TOKEN, EXPIRED_TOKEN, REVOKED_TOKEN, OTHER_TOKEN
	lacking map[need]string   // why a need is not met
	guarded bool              // at most one plant may be written
}

// An answer is what a target answers to a request.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) String() string { return fmt.Sprintf("%d %.300s %v", a.status, a.body, a.header) }

// send sends the request of a step with the case's ids and the target's tokens.
func (target target) send(t testing.TB, s step, id int64) answer {
	t.Helper()
	secret := target.tokens["TOKEN"]
	unknown, _, err := token.Issue(crand.Reader, "nobody", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	values := []string{"$1", fmt.Sprint(id), "$2", fmt.Sprint(id + 1), "$LOWER", strings.ToLower(secret), "$UNKNOWN", unknown}
	for name, secret := range target.tokens {
		values = append(values, "$"+name, secret)
	}
	fill := strings.NewReplacer(values...).Replace
	header := http.Header{"Authorization": {"Bearer " + secret}, "Content-Type": {"application/json"}}
	for name, values := range s.header {
		header[name] = nil
		for _, value := range values {
			header.Add(name, fill(value))
		}
	}
	return target.ask(t, fill(cmp.Or(s.route, "POST /plants")), header, fill(s.body))
}

// ask sends a request to a route such as `POST /plants`. No answer ends the test.
func (target target) ask(t testing.TB, route string, header http.Header, body string) answer {
	t.Helper()
	method, path, _ := strings.Cut(route, " ")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, target.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = header
	response, err := target.RoundTrip(request) // which follows no redirect
	if err != nil {
		t.Fatalf("no answer, so that the test ends here: %v", err)
	}
	content, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	if err = cmp.Or(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, content}
}

// fromEnvironment returns the deployment at url.
func fromEnvironment(t *testing.T, url string) target {
	t.Helper()
	found := target{url, http.DefaultTransport, map[string]string{}, map[need]string{}, false}
	for name, needed := range map[string]need{
		"TOKEN": nothing, "EXPIRED_TOKEN": expiredToken, "REVOKED_TOKEN": revokedToken, "OTHER_TOKEN": anotherToken,
	} {
		if found.tokens[name] = cmp.Or(os.Getenv("CONTRACT_"+name), os.Getenv(name)); found.tokens[name] == "" {
			found.lacking[needed] = name + " is not set"
		}
	}
	switch writes := os.Getenv("WRITES"); {
	case found.tokens["TOKEN"] == "":
		t.Fatal("TOKEN is not set: export TOKEN=..., then make contract URL=...")
	case !regexp.MustCompile(`^https?://[^?#]+$`).MatchString(url):
		t.Fatalf("URL must be the base address of a service, such as https://example.com, and is %q", url)
	case writes != "all" && writes != "":
		t.Fatalf("WRITES must be all, or not be set, and is %q", writes)
	case writes == "":
		found.guarded = true
		found.lacking[freshIDs] = "it writes, and WRITES=all is not set"
		found.lacking[anotherToken] = found.lacking[freshIDs]
		found.lacking[joinedHeaders] = found.lacking[freshIDs]
	}
	got := found.send(t, step{body: noPlant}, 1)
	switch code, _, _, err := loadContract(t).outcome(got); {
	case err == nil && code/1000 == 2:
		t.Fatalf("TOKEN is not valid here: a POST to %s/plants is answered with error %d", url, code)
	case err != nil || code != 1004:
		t.Fatalf("this is no Plant Store: a POST to %s/plants is answered %d and %d bytes", url, got.status, len(got.body))
	}
	// `sam local start-api` has an answer of its own to another route.
	other := string(found.ask(t, "GET /", http.Header{}, "").body)
	if strings.HasPrefix(url, "http://127.0.0.1:") && strings.Contains(other, "Missing Authentication Token") {
		found.lacking[rawBytes] = "`sam local` itself answers 502 to what is not UTF-8"
		found.lacking[gatewayBodies] = "`sam local` has answers of its own for what API Gateway answers"
	}
	if strings.Contains(url, "/_aws/execute-api/") {
		found.lacking[rawBytes] = "the local AWS replaces what is not UTF-8"
		found.lacking[joinedHeaders] = "the local AWS joins headers by a comma and a space"
		found.lacking[gatewayBodies] = "the local AWS has answers of its own for what API Gateway answers"
	}
	return found
}

// issueAll stores a token of each kind. It returns the secrets, which are the same in each process of a fuzz test.
func issueAll(t testing.TB, store token.Store) map[string]string {
	t.Helper()
	random := rand.NewChaCha8([32]byte{})
	secrets := map[string]string{}
	for _, name := range []string{"TOKEN", "OTHER_TOKEN", "EXPIRED_TOKEN", "REVOKED_TOKEN"} {
		issuedAt := time.Now()
		if name == "EXPIRED_TOKEN" {
			issuedAt = issuedAt.Add(-2 * time.Hour)
		}
		secret, issued, err := token.Issue(random, strings.ToLower(name), issuedAt, time.Hour)
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

// service is a target in process that takes one request at a time, with what a test needs to see of its inside.
type service struct {
	contract
	target
	gateway    http.Handler
	authorizer api.Authorizer
	plants     lastPlant
	log        bytes.Buffer // of the last request
}

// lastPlant is a store that shows the last plant.
type lastPlant struct {
	memory.PlantStore
	plant plant.NewPlant
}

func (s *lastPlant) Create(ctx context.Context, w plant.Write) error {
	s.plant = w.Plant
	return s.PlantStore.Create(ctx, w)
}

func newService(t testing.TB) *service {
	t.Helper()
	s, tokens := &service{contract: loadContract(t)}, new(memory.TokenStore)
	log := slog.New(slog.NewJSONHandler(&s.log, nil))
	s.authorizer = api.Authorizer{Verify: token.Verifier{Store: tokens, Now: time.Now}.Verify, Log: log, Now: time.Now}
	s.gateway = gateway.New(gateway.Options{
		Authorizer: &s.authorizer,
		Routes:     api.Routes(),
		Function:   &api.Service{Plants: &s.plants, Log: log, Now: time.Now, NewKey: crand.Text},
		Log:        log,
		Now:        time.Now,
		NewID:      crand.Text,
	})
	s.target = target{"", s, issueAll(t, tokens), nil, false}
	return s
}

// accept makes the service accept the tokens of an issuer too.
func (s *service) accept(t *testing.T, issuer *issuertest.Issuer) {
	t.Helper()
	verifier, err := jwt.New(issuer.URL, issuer.Audience, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	s.authorizer.Verify = token.Verifier{Store: new(memory.TokenStore), Now: time.Now, Issuer: verifier}.Verify
}

// RoundTrip gives a request to the gateway.
func (s *service) RoundTrip(r *http.Request) (*http.Response, error) {
	s.log.Reset()
	recorder := httptest.NewRecorder()
	s.gateway.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// try sends a request to create a plant to a service without plants.
func (s *service) try(t *testing.T, body string, authorization ...string) answer {
	t.Helper()
	s.plants = lastPlant{}
	return s.ask(t, "POST /plants", http.Header{"Authorization": authorization}, body)
}

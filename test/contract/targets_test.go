package contract

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	neturl "net/url"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// fromEnvironment returns the deployment at url.
func fromEnvironment(t *testing.T, url string) target {
	t.Helper()
	found := target{url: url, tokens: map[string]string{}, lacking: map[need]string{}}
	for name, needed := range map[string]need{
		"TOKEN": nothing, "EXPIRED_TOKEN": expiredToken, "REVOKED_TOKEN": revokedToken, "OTHER_TOKEN": anotherToken,
	} {
		if found.tokens[name] = cmp.Or(os.Getenv("CONTRACT_"+name), os.Getenv(name)); found.tokens[name] == "" {
			found.lacking[needed] = name + " is not set"
		}
	}
	if found.tokens["TOKEN"] == "" {
		t.Fatal("TOKEN is not set in the environment: export TOKEN=..., then make contract URL=...")
	}
	parsed, err := neturl.Parse(url)
	if err != nil || parsed.Host == "" || parsed.Path+parsed.RawQuery+parsed.Fragment != "" || (parsed.Scheme != "http" && parsed.Scheme != "https") {
		t.Fatalf("URL must be the base address of a service, such as https://example.com, and is %q", url)
	}
	response, body, err := send(t, step{body: `[]`}, found, 1) //nolint:bodyclose // send has closed it
	if err != nil {
		t.Fatal(err)
	}
	var refusal struct{ Error int }
	_ = json.Unmarshal(body, &refusal) // what is no Error is not 1004
	switch {
	case refusal.Error/1000 == 2:
		t.Fatalf("TOKEN is not valid here: a POST to %s/plants is answered with error %d", url, refusal.Error)
	case refusal.Error != 1004:
		t.Fatalf("this is no Plant Store: a POST to %s/plants is answered %d and %d bytes of %q", url, response.StatusCode, len(body), response.Header.Get("Content-Type"))
	}
	switch os.Getenv("WRITES") {
	case "all":
	case "":
		found.guarded = true
		found.lacking[freshIDs] = "it writes, and WRITES=all is not set"
		found.lacking[anotherToken] = found.lacking[freshIDs]
	default:
		t.Fatalf("WRITES must be all, or not be set, and is %q", os.Getenv("WRITES"))
	}
	if parsed.Hostname() == "127.0.0.1" && isSAMLocal(t, url) {
		found.lacking[rawBytes] = "`sam local` itself answers 502 to what is not UTF-8"
		found.lacking[gatewayBodies] = "`sam local` has answers of its own for what API Gateway answers"
	}
	return found
}

// isSAMLocal recognises `sam local start-api` by its answer to another route.
func isSAMLocal(t *testing.T, url string) bool {
	t.Helper()
	response, body, err := send(t, step{method: http.MethodGet, path: "/", body: emptyBy}, target{url: url}, 1) //nolint:bodyclose // send has closed it
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode == http.StatusForbidden && strings.Contains(string(body), "Missing Authentication Token")
}

// inProcess returns the handlers behind a gateway, with stores in memory.
func inProcess(t *testing.T) target {
	t.Helper()
	store, log := new(memory.TokenStore), slog.New(slog.DiscardHandler)
	server := httptest.NewServer(&gateway.Gateway{
		Authorizer: &api.Authorizer{Tokens: token.Verifier{Store: store, Now: time.Now}, Log: log, Now: time.Now},
		Routes: map[string]gateway.Function{
			"POST /plants": &api.CreatePlant{Plants: new(memory.PlantStore), Log: log, Now: time.Now, NewKey: rand.Text},
		},
		Log:   log,
		Now:   time.Now,
		NewID: rand.Text,
	})
	t.Cleanup(server.Close)
	return target{url: server.URL, tokens: issueAll(t, store)}
}

// serveInMemory returns a `plantstore serve` with the token that it printed.
func serveInMemory(t *testing.T) target {
	t.Helper()
	server := processtest.Serve(t, processtest.Build(t, "plantstore"), processtest.InMemory()...)
	const why = "a `plantstore serve` in memory has the one token that it prints"
	return target{
		url:     server.URL,
		tokens:  map[string]string{"TOKEN": regexp.MustCompile(`pst_\w+`).FindString(server.Greeting)},
		lacking: map[need]string{expiredToken: why, revokedToken: why, anotherToken: why},
	}
}

// serveOnDynamoDB returns a `plantstore serve` on DynamoDB Local.
func serveOnDynamoDB(t *testing.T) target {
	t.Helper()
	client, plants, tokens := dynamotest.Tables(t)
	server := processtest.Serve(t, processtest.Build(t, "plantstore"), "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
	return target{url: server.URL, tokens: issueAll(t, &dynamo.TokenStore{Client: client, Table: tokens})}
}

// issueAll stores a token of each kind and returns the secrets.
func issueAll(t *testing.T, store token.Store) map[string]string {
	t.Helper()
	secrets := map[string]string{}
	for name, age := range map[string]time.Duration{"TOKEN": 0, "OTHER_TOKEN": 0, "REVOKED_TOKEN": 0, "EXPIRED_TOKEN": 2 * time.Hour} {
		secret, issued, err := token.Issue(rand.Reader, strings.ToLower(name), time.Now().Add(-age), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := store.Add(t.Context(), issued); err != nil {
			t.Fatal(err)
		}
		if name == "REVOKED_TOKEN" {
			if err := store.Revoke(t.Context(), issued.Digest); err != nil {
				t.Fatal(err)
			}
		}
		secrets[name] = secret
	}
	return secrets
}

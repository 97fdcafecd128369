package jwt

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"plantstore/internal/token"
)

// A document of no use makes the keys unavailable. The error repeats nothing of it.
func TestDocuments(t *testing.T) {
	const isJSON = "application/json"
	// A valid set of keys with the example of RFC 7517, appendix A.1, but for its end.
	const set = `{"keys":[{"kty":"EC","kid":"k1","crv":"P-256",` +
		`"x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]`
	malformed := func(*http.Request) (*http.Response, error) { return nil, errors.New("malformed HTTP: canary") }
	tests := []struct {
		name     string
		path     string
		document document
	}{
		{"the discovery is not HTTP", discoveryPath, malformed},
		{"the discovery is for no issuer", discoveryPath, discovers("", issuerURL+keysPath)},
		{"the discovery is for a longer issuer", discoveryPath, discovers(issuerURL+".canary", issuerURL+keysPath)},
		{"the discovery is moved", discoveryPath, answers(http.StatusMovedPermanently, isJSON, "{}")},
		{"the keys are at a long URL", discoveryPath, discovers(issuerURL, issuerURL+keysPath+"?"+strings.Repeat("a", 2048))},
		{"the keys are at a URL with a user", discoveryPath, discovers(issuerURL, "https://canary@issuer.example.com/keys")},
		{"the keys of an https issuer are at http", discoveryPath, discovers(issuerURL, "http://localhost:8080/keys")},
		{"the keys fail", keysPath, answers(http.StatusInternalServerError, isJSON, set+"}")},
		{"the keys are a page", keysPath, answers(http.StatusOK, "text/html", set+"}")},
		{"the keys are cut", keysPath, answers(http.StatusOK, isJSON, set)},
		{"the keys are over 1 MB", keysPath, answers(http.StatusOK, isJSON, set+strings.Repeat(" ", 1<<20)+"}")},
		{"there is no list of keys", keysPath, answers(http.StatusOK, isJSON, `{"canary":[]}`)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			i := newIssuer(t)
			i.documents["/moved"] = i.documents[test.path]
			i.documents[test.path] = test.document
			_, err := i.verifier.Verify(t.Context(), i.token(draft{}))
			if !errors.Is(err, token.ErrUnavailable) || strings.Contains(err.Error(), "canary") {
				t.Errorf("Verify = %v, want ErrUnavailable, and no canary in its text", err)
			}
		})
	}
}

// The path of the discovery document has one slash, also for an issuer that ends in one.
func TestDiscoveryPath(t *testing.T) {
	i := newIssuer(t)
	i.verifier.keys.issuer = issuerURL + "/"
	i.documents[discoveryPath] = discovers(issuerURL+"/", issuerURL+keysPath)
	i.check(t, []draft{{name: "a token"}})
}

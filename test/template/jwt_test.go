package template

import (
	"regexp"
	"testing"
)

// TestIssuer checks that the keys of an issuer are fetched over TLS.
func TestIssuer(t *testing.T) {
	pattern := regexp.MustCompile(production(t).Nodes["Parameters/TokenIssuer.AllowedPattern"])
	for issuer, want := range map[string]bool{"https://issuer.example/realms/a": true, "http://issuer.example": false} {
		if got := pattern.MatchString(issuer); got != want {
			t.Errorf("TokenIssuer may be %q = %t, want %t", issuer, got, want)
		}
	}
}

// TestAudiences checks that no two environments take each other's JWTs.
func TestAudiences(t *testing.T) {
	audiences := map[any]bool{}
	for _, environment := range environments {
		audience := parametersOf(t, environment)["TokenAudience"]
		if audience != "" && audiences[audience] {
			t.Errorf("%s takes JWTs for %s, as another environment does", environment, audience)
		}
		audiences[audience] = true
	}
}

package template

import (
	"regexp"
	"testing"
)

// TestIssuer checks that the keys of an issuer are fetched over TLS.
func TestIssuer(t *testing.T) {
	pattern := regexp.MustCompile(production(t).Parameters["TokenIssuer"].AllowedPattern)
	for issuer, want := range map[string]bool{"https://issuer.example/realms/a": true, "http://issuer.example": false} {
		if got := pattern.MatchString(issuer); got != want {
			t.Errorf("TokenIssuer may be %q = %t, want %t", issuer, got, want)
		}
	}
}

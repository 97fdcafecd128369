// Package jwt verifies the JWT access tokens of one issuer, such as Amazon Cognito, Auth0, Keycloak,
// Microsoft Entra ID or Okta. An ID token has the same issuer and keys, but is for the client and opens
// no API. So a token must state that it is an access token, in a way that no ID token does, and must not
// state otherwise:
//   - the header typ is at+jwt (RFC 9068, section 2.1; Auth0: a profile of the API)
//   - the claim token_use is "access": Cognito ("Understanding the access token")
//   - the claim typ is "Bearer": Keycloak, whose ID tokens have "ID"
//   - the claim scp: Okta, and Entra for users ("Access token claims reference")
//   - the claim idtyp is "app": Entra for applications ("Optional claims reference")
package jwt

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

const leeway = 60 // seconds: how far nbf may be in the future

// algorithms are asymmetric: whoever can verify a signature cannot make one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Verifier verifies the access tokens that one issuer issues for one audience.
type Verifier struct {
	keys
	audience string
}

// New returns a Verifier. It sends no request before the first token. Only an issuer on this machine,
// which containers know as host.docker.internal, needs no https.
func New(issuer, audience string, now func() time.Time) (*Verifier, error) {
	const urls = `^(https://[\w.:-]+|http://(localhost|127[.]0[.]0[.]1|\[::1]|host[.]docker[.]internal)(:\d+)?)(/[\w.~/-]*)?$`
	if !regexp.MustCompile(urls).MatchString(issuer) || !token.VisibleASCII(issuer, 255) {
		return nil, errors.New("is not an https URL, such as https://issuer.example.com")
	}
	return &Verifier{keys{issuer: issuer, now: now, client: &http.Client{
		Transport:     &http.Transport{MaxResponseHeaderBytes: maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, audience}, nil
}

// claims are the claims that Verify checks. Their names are case-sensitive, unlike
// go-oidc's: some issuers sign for all tenants with the same keys, and tenants add
// claims.
type claims struct {
	Issuer    string  `json:"iss"`
	Subject   string  `json:"sub"`
	ID        string  `json:"jti"`
	Audience  any     `json:"aud"` // a text or a list
	ClientID  string  `json:"client_id"`
	Expiry    float64 `json:"exp"` // seconds
	NotBefore float64 `json:"nbf"`
	TokenUse  string  `json:"token_use"`
	Type      string  `json:"typ"`
	Scopes    any     `json:"scp"`
	IDType    string  `json:"idtyp"`

	Confirmation any `json:"cnf"` // names a key of the client, which a bearer does not show (RFC 7800)
}

// Verify returns the principal of an access token. Its subject is the issuer, a space and sub: the
// subject of an opaque token, and an issuer, have no space. Verify returns [token.ErrInvalid], or
// [token.ErrUnavailable] if the key cannot be fetched now.
func (v *Verifier) Verify(ctx context.Context, bearer string) (token.Principal, error) {
	signed, err := jose.ParseSignedCompact(bearer, algorithms)
	for part := range strings.SplitSeq(bearer, ".") { // go-jose ignores the unused bits at the end of a part
		_, bits := base64.RawURLEncoding.Strict().DecodeString(part)
		err = cmp.Or(err, bits)
	}
	if err != nil {
		return token.Principal{}, token.ErrInvalid
	}
	header := signed.Signatures[0].Protected
	found, err := v.find(ctx, header.KeyID)
	if err != nil {
		return token.Principal{}, err
	}
	config := &oidc.Config{SupportedSigningAlgs: []string{header.Algorithm}, SkipClientIDCheck: true, Now: v.now}
	verified, err := oidc.NewVerifier(v.issuer, &oidc.StaticKeySet{PublicKeys: found}, config).Verify(ctx, bearer)
	if err != nil {
		return token.Principal{}, token.ErrInvalid
	}
	var payload jsontext.Value
	var c claims
	if verified.Claims(&payload) != nil || json.Unmarshal(payload, &c) != nil || !v.accepts(c) || !isAccess(header, c) {
		return token.Principal{}, token.ErrInvalid
	}
	if !token.VisibleASCII(c.ID, 255) {
		c.ID = token.Digest(bearer)
	}
	return token.Principal{Subject: v.issuer + " " + c.Subject, TokenID: c.ID}, nil
}

// accepts reports whether the claims are for this service, now. A token without an
// audience is for its client: Cognito names only that. Sources: OpenID Connect Core,
// section 2; API Gateway, "Control access to HTTP APIs with JWT authorizers".
func (v *Verifier) accepts(c claims) bool {
	now := float64(v.now().Unix())
	audiences, isList := c.Audience.([]any)
	if !isList {
		audiences = []any{cmp.Or(c.Audience, any(c.ClientID))}
	}
	return c.Issuer == v.issuer && slices.Contains(audiences, any(v.audience)) && token.VisibleASCII(c.Subject, 255) &&
		c.Expiry > now && c.NotBefore <= now+leeway && c.Confirmation == nil
}

// isAccess reports whether a token states that it is an access token; see above.
func isAccess(header jose.Header, c claims) bool {
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
	if !slices.Contains([]string{"", "jwt", "at+jwt"}, typ) || cmp.Or(c.TokenUse, "access") != "access" || cmp.Or(c.Type, "Bearer") != "Bearer" {
		return false
	}
	text, _ := c.Scopes.(string)
	list, _ := c.Scopes.([]any)
	return typ == "at+jwt" || c.TokenUse != "" || c.Type != "" || text != "" || len(list) > 0 || c.IDType == "app"
}

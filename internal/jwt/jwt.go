// Package jwt verifies the JWT access tokens of one issuer, such as Amazon Cognito,
// Auth0, Keycloak, Microsoft Entra ID or Okta.
//
// An ID token has the same issuer, keys and sometimes audience, but it is for the
// client and opens no API. So a token must state that it is an access token, in one
// of these ways, which no ID token of these issuers has:
//
//   - the header typ is at+jwt (RFC 9068, section 2.1). Auth0 sets it if the API has
//     the JWT profile RFC 9068.
//   - the claim token_use is "access": Cognito ("Understanding the access token")
//   - the claim typ is "Bearer": Keycloak, whose ID tokens have "ID"
//   - there is a claim scp: Okta, and Entra for a user ("Access token claims
//     reference")
//   - the claim idtyp is "app": Entra for an application without a user, if the API
//     asks for it ("Optional claims reference")
package jwt

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

// leeway is how far the issuer's clock may be ahead, in seconds.
const leeway = 60

// algorithms are asymmetric: whoever can verify a signature cannot make one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// Verifier verifies the access tokens that one issuer issues for one audience.
type Verifier struct {
	keys
	audience string
}

// New returns a Verifier. It sends no request before the first token. Its error
// completes a sentence that begins with the name of the issuer's setting.
func New(issuer, audience string, now func() time.Time) (*Verifier, error) {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.RawQuery+u.Fragment != "" || !token.VisibleASCII(issuer, 255) ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLocal(u.Hostname())) {
		return nil, errors.New("is not an https URL, such as https://issuer.example.com")
	}
	client := &http.Client{
		Transport:     &http.Transport{MaxResponseHeaderBytes: maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &Verifier{keys{issuer: issuer, client: client, now: now}, audience}, nil
}

// isLocal reports whether host is this machine. Its containers know it by the
// second name.
func isLocal(host string) bool {
	return host == "localhost" || host == "host.docker.internal" || net.ParseIP(host).IsLoopback()
}

// claims are those that count. go-oidc reads their names in any case and takes the
// last of several. Here a name is exact and occurs once: some issuers sign for all
// their tenants with the same keys, and a tenant may add claims.
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
}

// Verify returns the principal of an access token. Its subject is the issuer, a
// space and the claim sub. No opaque token has a space in its subject, and no issuer
// has one. Verify returns [token.ErrInvalid] if the token is not valid, and
// [token.ErrUnavailable] if its key cannot be fetched now.
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

// accepts reports whether a token with these claims is for this service, now. A
// subject has at most 255 ASCII characters (OpenID Connect Core, section 2). A token
// without an audience is for its client, as in API Gateway's own authorizer for JWTs
// ("Control access to HTTP APIs with JWT authorizers"): Cognito names only a client.
func (v *Verifier) accepts(c claims) bool {
	now := float64(v.now().Unix())
	audiences, isList := c.Audience.([]any)
	if !isList {
		audiences = []any{cmp.Or(c.Audience, any(c.ClientID))}
	}
	return c.Issuer == v.issuer && slices.Contains(audiences, any(v.audience)) && token.VisibleASCII(c.Subject, 255) &&
		c.Expiry > now && c.NotBefore <= now+leeway
}

// isAccess reports whether a token states that it is an access token, as the
// comment on the package says.
func isAccess(header jose.Header, c claims) bool {
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	return strings.TrimPrefix(strings.ToLower(typ), "application/") == "at+jwt" ||
		c.TokenUse == "access" || c.Type == "Bearer" || c.Scopes != nil || c.IDType == "app"
}

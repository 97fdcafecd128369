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
	"context"
	"encoding/base64"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

// algorithms are asymmetric: whoever can verify a signature cannot make one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// longest is how many characters an issuer, a subject and an id may have.
const longest = 255

// Verifier verifies the access tokens that one issuer issues for one of our audiences.
type Verifier struct {
	issuer    string
	audiences []string
	now       func() time.Time
	keys      keys
}

var _ token.JWTVerifier = (*Verifier)(nil)

// New returns a [Verifier]. audience is one audience or several, separated by commas, with or without
// spaces. New sends no request: the first token causes one.
func New(issuer, audience string, now func() time.Time) (*Verifier, error) {
	if issuer == "" || audience == "" {
		return nil, errors.New("issuer and audience must be set together")
	}
	var audiences []string
	for entry := range strings.SplitSeq(audience, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			return nil, errors.New("an audience is empty")
		}
		audiences = append(audiences, entry)
	}
	u, err := url.Parse(issuer)
	if err != nil || !isSafe(u) || u.Scheme+"://"+u.Host+u.Path != issuer || !token.IsVisibleASCII(issuer, longest) {
		return nil, errors.New("the issuer is not an https URL, such as https://issuer.example.com")
	}
	client := &http.Client{
		Transport:     &http.Transport{MaxResponseHeaderBytes: maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	wallClock := func() time.Time { return now().Round(0) } // the monotonic clock may stop while Lambda freezes a process
	return &Verifier{
		issuer:    issuer,
		audiences: audiences,
		now:       now,
		keys:      keys{issuer: issuer, client: client, now: wallClock},
	}, nil
}

// Verify returns the principal of an access token. Its subject is the issuer, a space and sub: the
// subject of an opaque token, and an issuer, have no space. Verify returns a [token.Reason] if the
// token is invalid, and [token.ErrUnavailable] if the key cannot be fetched now.
func (v *Verifier) Verify(ctx context.Context, bearer string) (token.Principal, error) {
	signed, err := parse(bearer)
	if err != nil {
		return token.Principal{}, err
	}
	header := signed.Signatures[0].Protected
	candidates, err := v.keys.find(ctx, header.KeyID)
	if err != nil {
		return token.Principal{}, err
	}
	payload, err := verifySignature(signed, candidates)
	if err != nil {
		return token.Principal{}, err
	}
	var c claims
	if err := json.Unmarshal(payload, &c); err != nil {
		return token.Principal{}, token.ReasonForm
	}
	if err := v.accept(header, c); err != nil {
		return token.Principal{}, err
	}
	id := c.ID
	if !token.IsVisibleASCII(id, longest) {
		id = token.Digest(bearer)
	}
	return token.Principal{Subject: v.issuer + " " + c.Subject, TokenID: id}, nil
}

// parse decodes a signed token in compact form. It refuses the headers crit and b64, whatever their
// values, because we know no extension (RFC 7515, section 4.1.11; RFC 7797, section 7).
func parse(bearer string) (*jose.JSONWebSignature, error) {
	strict := base64.RawURLEncoding.Strict() // go-jose ignores the unused bits at the end of a part
	var parts [][]byte
	for encoded := range strings.SplitSeq(bearer, ".") {
		part, err := strict.DecodeString(encoded)
		if err != nil {
			return nil, token.ReasonForm
		}
		parts = append(parts, part)
	}
	var extensions struct { // go-jose takes null for a missing header
		Critical jsontext.Value `json:"crit"`
		Base64   jsontext.Value `json:"b64"`
	}
	err := json.Unmarshal(parts[0], &extensions)
	if err != nil || extensions.Critical != nil || extensions.Base64 != nil {
		return nil, token.ReasonForm
	}
	signed, err := jose.ParseSignedCompact(bearer, algorithms)
	if _, ok := errors.AsType[*jose.ErrUnexpectedSignatureAlgorithm](err); ok {
		return nil, token.ReasonSignature
	}
	if err != nil {
		return nil, token.ReasonForm
	}
	return signed, nil
}

// verifySignature returns the payload if one of the keys verifies the signature. A key that names an
// algorithm verifies that one alone (RFC 8725, section 3.1).
func verifySignature(signed *jose.JSONWebSignature, candidates []jose.JSONWebKey) ([]byte, error) {
	for _, key := range candidates {
		if key.Algorithm != "" && key.Algorithm != signed.Signatures[0].Protected.Algorithm {
			continue
		}
		payload, err := signed.Verify(key.Key)
		if err == nil {
			return payload, nil
		}
	}
	return nil, token.ReasonSignature
}

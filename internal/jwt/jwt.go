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

	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

// algorithms are asymmetric: whoever can verify a signature cannot make one.
var algorithms = []jose.SignatureAlgorithm{
	jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512, jose.ES256, jose.ES384, jose.ES512, jose.EdDSA,
}

// maxLength is how many characters an issuer, a subject and an id may have.
const maxLength = 255

// The reasons for which a JWT is invalid, besides those of package token.
const (
	reasonSignature   token.Reason = "signature" // wrong, or by an algorithm that is not accepted
	reasonKey         token.Reason = "key"       // the issuer has no key with this id
	reasonIssuer      token.Reason = "issuer"    // another one
	reasonAudience    token.Reason = "audience"  // another service
	reasonType        token.Reason = "type"      // no access token, or bound to a key of its client
	reasonNotYetValid token.Reason = "not-yet-valid"
	reasonSubject     token.Reason = "subject" // missing or malformed
)

// verifier verifies the access tokens that one issuer issues for one of our audiences.
type verifier struct {
	ours      token.Verifier // of the tokens of this service
	issuer    string
	audiences []string
	keys      keys
}

// AddIssuer returns a verifier of tokens of two kinds. It leaves the tokens of this service to ours, and
// verifies the others as JWTs that issuer issued for audience: one audience or several, separated by commas,
// with or without spaces. If issuer and audience are empty, AddIssuer returns ours. It returns an error if one
// of them is missing or malformed. It sends no request: the first JWT causes one.
func AddIssuer(ours token.Verifier, issuer, audience string) (token.Verifier, error) {
	if issuer == "" && audience == "" {
		return ours, nil
	}
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
	if err != nil || !isSafe(u) || u.Scheme+"://"+u.Host+u.Path != issuer || !token.IsVisibleASCII(issuer, maxLength) {
		return nil, errors.New("the issuer is not an https URL, such as https://issuer.example.com")
	}
	client := &http.Client{
		Transport:     &http.Transport{MaxResponseHeaderBytes: maxAnswer},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return &verifier{
		ours:      ours,
		issuer:    issuer,
		audiences: audiences,
		keys:      keys{issuer: issuer, client: client},
	}, nil
}

// Verify implements [token.Verifier]. The subject of a JWT is the issuer, a space and sub: the subject of
// a token of this service, and an issuer, have no space.
func (v *verifier) Verify(ctx context.Context, bearer string) (token.Principal, error) {
	if _, isOurs := token.ParseID(bearer); isOurs {
		return v.ours.Verify(ctx, bearer)
	}
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
	if !token.IsVisibleASCII(id, maxLength) {
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
		return nil, reasonSignature
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
	return nil, reasonSignature
}

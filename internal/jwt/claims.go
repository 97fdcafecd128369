package jwt

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"slices"
	"strings"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

const leeway = 60 // seconds: how far nbf may be in the future

// claims are the claims that Verify checks. Their names are case-sensitive: some issuers sign for all
// tenants with the same keys, and tenants add claims.
type claims struct {
	Issuer    string       `json:"iss"`
	Subject   string       `json:"sub"`
	ID        string       `json:"jti"`
	Audience  stringOrList `json:"aud"`
	ClientID  string       `json:"client_id"`
	Expiry    float64      `json:"exp"` // seconds
	NotBefore float64      `json:"nbf"`
	TokenUse  string       `json:"token_use"`
	Type      string       `json:"typ"`
	Scopes    stringOrList `json:"scp"`
	IDType    string       `json:"idtyp"`

	Confirmation any `json:"cnf"` // a key that the client must prove to have, unlike a bearer (RFC 7800)
}

// stringOrList is a claim that is a string or a list of strings. It is nil if the claim is missing.
type stringOrList []string

// UnmarshalJSONFrom decodes both forms.
func (t *stringOrList) UnmarshalJSONFrom(decoder *jsontext.Decoder) error {
	switch decoder.PeekKind() {
	case jsontext.KindString:
		*t = make(stringOrList, 1)
		return json.UnmarshalDecode(decoder, &(*t)[0])
	case jsontext.KindNull:
		*t = stringOrList{} // the claim is not missing
		return decoder.SkipValue()
	}
	return json.UnmarshalDecode(decoder, (*[]string)(t))
}

// accept returns nil if the claims are those of an access token for this service, now. A token without
// an audience is for its client: Cognito names only that. Sources: OpenID Connect Core, section 2; API
// Gateway, "Control access to HTTP APIs with JWT authorizers".
func (v *verifier) accept(header jose.Header, c claims) error {
	now := float64(time.Now().Unix())
	audience := c.Audience
	if audience == nil {
		audience = stringOrList{c.ClientID}
	}
	switch {
	case c.Issuer != v.issuer:
		return reasonIssuer
	case !slices.ContainsFunc(audience, func(named string) bool { return slices.Contains(v.audiences, named) }):
		return reasonAudience
	case !isAccess(header, c):
		return reasonType
	case c.Expiry <= now:
		return token.ReasonExpired
	case c.NotBefore > now+leeway:
		return reasonNotYetValid
	case !token.IsVisibleASCII(c.Subject, maxLength):
		return reasonSubject
	}
	return nil
}

// isAccess reports whether a token states that it is an access token, and that its bearer may use it.
// See the comment on the package.
func isAccess(header jose.Header, c claims) bool {
	typ, _ := header.ExtraHeaders[jose.HeaderType].(string)
	typ = strings.TrimPrefix(strings.ToLower(typ), "application/")
	switch {
	case typ != "" && typ != "jwt" && typ != "at+jwt":
		return false
	case c.TokenUse != "" && c.TokenUse != "access":
		return false
	case c.Type != "" && c.Type != "Bearer":
		return false
	case c.Confirmation != nil:
		return false
	}
	hasScope := strings.Join(c.Scopes, "") != ""
	return typ == "at+jwt" || c.TokenUse != "" || c.Type != "" || hasScope || c.IDType == "app"
}

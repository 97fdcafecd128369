package jwt

import (
	"encoding/json/jsontext"
	"strings"
	"testing"
	"time"

	"plantstore/internal/token"
)

func TestAccessTokens(t *testing.T) {
	plain := object{"typ": "JWT"}
	untyped := object{"typ": nil}
	cognito := object{"token_use": "access", "aud": nil, "client_id": "plants"}
	newIssuer(t).check(t, []draft{
		{name: "RFC 9068's long type", header: object{"typ": "application/AT+JWT"}},
		{name: "Cognito's access token", header: untyped, claims: cognito},
		{name: "Keycloak's access token", header: plain, claims: object{"typ": "Bearer"}},
		{name: "Okta's access token", header: untyped, claims: object{"scp": []string{"read"}}},
		{name: "Entra's access token for a user", header: plain, claims: object{"scp": "read"}},
		{name: "Entra's access token for an application", header: plain, claims: object{"idtyp": "app"}},

		{name: "an ID token, with an empty scope", header: plain, claims: object{"nonce": "n", "scp": ""}, want: reasonType},
		{name: "Cognito's ID token", header: untyped, claims: object{"token_use": "id", "scp": "read"}, want: reasonType},
		{name: "Keycloak's ID token", header: plain, claims: object{"typ": "ID", "scp": "read"}, want: reasonType},
		{name: "a token that says only that it is a user's", header: plain, claims: object{"idtyp": "user"}, want: reasonType},
		{name: "a logout token", header: object{"typ": "logout+jwt"}, claims: object{"scp": "read"}, want: reasonType},
		{name: "a token of a key of the client", claims: object{"cnf": object{"jkt": "x"}}, want: reasonType},
		{name: "the name scp in another case", header: plain, claims: object{"Scp": "read"}, want: reasonType},
	})
}

func TestClaims(t *testing.T) {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC).Unix() // the time at which synctest.Test starts
	null := jsontext.Value("null")
	none := []string{}
	newIssuer(t).check(t, []draft{
		{name: "one of several audiences", claims: object{"aud": []string{"a", "plants"}}},
		{name: "the second of our audiences", claims: object{"aud": "herbs"}},
		{name: "another audience, our client", claims: object{"aud": "a", "client_id": "plants"}, want: reasonAudience},
		{name: "a null audience, our client", claims: object{"aud": null, "client_id": "plants"}, want: reasonAudience},
		{name: "an empty audience, our client", claims: object{"aud": none, "client_id": "plants"}, want: reasonAudience},
		{name: "no audience, another client", claims: object{"aud": nil, "client_id": "animals"}, want: reasonAudience},
		{name: "an audience that is no text", claims: object{"aud": true}, want: token.ReasonForm},
		{name: "another issuer", claims: object{"iss": issuerURL + "/"}, want: reasonIssuer},

		{name: "expired now", claims: object{"exp": now}, want: token.ReasonExpired},
		{name: "no expiry", claims: object{"exp": nil}, want: token.ReasonExpired},
		{name: "issued in the future, with an unknown member", claims: object{"iat": now + 3600, "x": object{"y": 1}}},
		{name: "valid in a minute", claims: object{"nbf": now + 60}},
		{name: "valid in more than a minute", claims: object{"nbf": now + 61}, want: reasonNotYetValid},

		{name: "no subject", claims: object{"sub": nil}, want: reasonSubject},
		{name: "a subject of 255 characters", claims: object{"sub": strings.Repeat("~", 255)}},
		{name: "a subject of 256 characters", claims: object{"sub": strings.Repeat("~", 256)}, want: reasonSubject},
	})
}

package api

import (
	"errors"
	"strings"

	"plantstore/internal/token"
)

// verdict is what the authorizer tells the function, as the context of its
// answer. API Gateway's own 401 and 403 cannot be given the specification's
// Error as their body, so the authorizer lets every request pass and the
// function refuses.
type verdict struct {
	// Verdict is "allow", "deny" or "unavailable".
	Verdict string `json:"verdict"`

	// Presented is the SHA-256, in lower-case hexadecimal, of the Authorization
	// value that the verdict is about. The function compares it with the value
	// that it sees itself, so that a verdict never serves another caller.
	Presented string `json:"presented"`

	// Reason of a "deny": "missing", "malformed" or "invalid".
	Reason string `json:"reason,omitzero"`

	// Subject and TokenID are those of the token that an "allow" is about.
	Subject string `json:"subject,omitzero"`
	TokenID string `json:"token_id,omitzero"`
}

// reasons of a "deny", and the errors that they stand for.
var reasons = map[string]error{
	"missing":   errTokenMissing,
	"malformed": errTokenMalformed,
	"invalid":   token.ErrInvalid,
}

// newVerdict returns the verdict on authorization, of which t and err are what
// the check found.
func newVerdict(authorization string, t token.Token, err error) verdict {
	v := verdict{Verdict: "unavailable", Presented: token.Digest(authorization)}
	if err == nil {
		v.Verdict, v.Subject, v.TokenID = "allow", t.Subject, t.ID
	}
	for reason, meaning := range reasons {
		if errors.Is(err, meaning) {
			v.Verdict, v.Reason = "deny", reason
		}
	}
	return v
}

// check returns nil if v allows the request that came with authorization. It
// fails closed: anything but a verdict on this very value is an internal error,
// also where no authorizer ran.
func (v verdict) check(authorization string) error {
	denied, known := reasons[v.Reason]
	switch {
	case v.Presented != token.Digest(authorization):
		return errors.New("api: no verdict on this Authorization value")
	case v.Verdict == "allow" && v.Reason == "" && v.Subject != "" && v.TokenID != "":
		return nil
	case v.Verdict == "deny" && known:
		return denied
	case v.Verdict == "unavailable":
		return token.ErrUnavailable
	}
	return errors.New("api: unknown verdict")
}

// bearer returns the token in the value of an Authorization header, by RFC 6750
// section 2.1: `Bearer`, in any case, one space or more, and the token. It
// returns errTokenMissing where there is no value or one of another scheme, and
// errTokenMalformed where the scheme is Bearer and what follows is not one
// token.
func bearer(authorization string) (string, error) {
	end := strings.IndexAny(authorization+" ", " \t")
	if !equalFold(authorization[:end], "Bearer") {
		return "", errTokenMissing
	}
	secret := strings.TrimLeft(authorization[end:], " ")
	if secret == "" || strings.Trim(secret, b64token) != "" {
		return "", errTokenMalformed
	}
	return secret, nil
}

// b64token holds the characters of a token by RFC 6750.
const b64token = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/="

package api

import (
	"crypto/sha256"
	"encoding/hex"
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

// presented returns the SHA-256 of an Authorization value.
func presented(authorization string) string {
	sum := sha256.Sum256([]byte(authorization))
	return hex.EncodeToString(sum[:])
}

// newVerdict returns the verdict on authorization, of which t and err are what
// the check found.
func newVerdict(authorization string, t token.Token, err error) verdict {
	v := verdict{Verdict: "deny", Presented: presented(authorization)}
	switch {
	case err == nil:
		v.Verdict, v.Subject, v.TokenID = "allow", t.Subject, t.ID
	case errors.Is(err, errTokenMissing):
		v.Reason = "missing"
	case errors.Is(err, errTokenMalformed):
		v.Reason = "malformed"
	case errors.Is(err, token.ErrInvalid):
		v.Reason = "invalid"
	default:
		v.Verdict = "unavailable"
	}
	return v
}

// check returns nil if v allows the request that came with authorization. It
// fails closed: anything but a verdict on this very value is an internal error,
// also where no authorizer ran.
func (v verdict) check(authorization string) error {
	if v.Presented != presented(authorization) {
		return errors.New("api: no verdict on this Authorization value")
	}
	switch [2]string{v.Verdict, v.Reason} {
	case [2]string{"allow", ""}:
		if v.Subject == "" || v.TokenID == "" {
			return errors.New("api: verdict allows nobody")
		}
		return nil
	case [2]string{"deny", "missing"}:
		return errTokenMissing
	case [2]string{"deny", "malformed"}:
		return errTokenMalformed
	case [2]string{"deny", "invalid"}:
		return token.ErrInvalid
	case [2]string{"unavailable", ""}:
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
	if secret == "" || strings.ContainsFunc(secret, notToken) {
		return "", errTokenMalformed
	}
	return secret, nil
}

// notToken reports whether r is no character of RFC 6750's b64token.
func notToken(r rune) bool {
	const symbols = "-._~+/="
	isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	isDigit := '0' <= r && r <= '9'
	return !isLetter && !isDigit && !strings.ContainsRune(symbols, r)
}

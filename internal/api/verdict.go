package api

import (
	"errors"

	"plantstore/internal/token"
)

// verdict is the authorizer's finding, which the function gets as the context of
// the authorizer's answer. API Gateway's own 401 and 403 cannot have the
// specification's Error as their body, so the authorizer lets every request pass
// and the function refuses.
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

// newVerdict returns the verdict on the value of an Authorization header, whose
// check returned p and err.
func newVerdict(authorization string, p token.Principal, err error) verdict {
	v := verdict{Verdict: "unavailable", Presented: token.Digest(authorization)}
	if err == nil {
		v.Verdict, v.Subject, v.TokenID = "allow", p.Subject, p.TokenID
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
// also if no authorizer ran.
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

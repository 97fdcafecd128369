package api

import (
	"errors"

	"plantstore/internal/token"
)

// verdict is the authorizer's finding, which the function gets as the context of the authorizer's
// answer. API Gateway's own 401 and 403 cannot have the specification's Error as their body, so the
// authorizer lets every request pass and the function refuses. The function compares Presented with
// the Authorization value that it sees itself, so that a verdict never serves another caller.
type verdict struct {
	Verdict   string `json:"verdict"`           // "allow", "deny" or "unavailable"
	Presented string `json:"presented"`         // SHA-256 of the Authorization value, in lower-case hexadecimal
	Reason    string `json:"reason,omitzero"`   // of a "deny": one of reasons
	Subject   string `json:"subject,omitzero"`  // of the token that an "allow" is about
	TokenID   string `json:"token_id,omitzero"` // of the same
}

// reasons of a "deny", and the errors that they stand for.
var reasons = map[string]error{
	"missing":   errTokenMissing,
	"malformed": errTokenMalformed,
	"invalid":   token.ErrInvalid,
}

// newVerdict returns the verdict on an Authorization value whose check returned p and err.
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

// check returns nil if v allows the request that came with authorization. It fails closed: anything
// but a verdict on this very value is an internal error, also if no authorizer ran.
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

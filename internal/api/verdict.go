package api

import (
	"errors"

	"plantstore/internal/token"
)

// verdict is the authorizer's finding. API Gateway passes it on in the function's event. The function
// compares Presented with the Authorization value that it sees itself, so that a verdict never serves
// another caller.
type verdict struct {
	Verdict   string `json:"verdict"`           // "allow", "deny" or "unavailable"
	Presented string `json:"presented"`         // [token.Digest] of the Authorization value
	Reason    string `json:"reason,omitzero"`   // of a "deny": one of denials
	Subject   string `json:"subject,omitzero"`  // of the token that an "allow" is about
	TokenID   string `json:"token_id,omitzero"` // of the same
}

// denials are the reasons of a "deny", and the errors that they stand for. The reason does not say why
// a token is invalid: only the log does.
var denials = map[string]error{
	"missing":   errTokenMissing,
	"malformed": errTokenMalformed,
	"invalid":   token.ErrInvalid,
}

// newVerdict returns the verdict on an Authorization value whose check returned p and err.
func newVerdict(authorization string, p token.Principal, err error) verdict {
	presented := token.Digest(authorization)
	if err == nil {
		return verdict{Verdict: "allow", Presented: presented, Subject: p.Subject, TokenID: p.TokenID}
	}
	for reason, meaning := range denials {
		if errors.Is(err, meaning) {
			return verdict{Verdict: "deny", Presented: presented, Reason: reason}
		}
	}
	// Also for an internal error: the authorizer logs 5001, and the function answers 5003.
	return verdict{Verdict: "unavailable", Presented: presented}
}

// check returns the principal if v allows the request that came with authorization. It fails closed:
// anything but a verdict on this very value is an internal error, also if no authorizer ran.
func (v verdict) check(authorization string) (token.Principal, error) {
	denial, known := denials[v.Reason]
	switch {
	case v.Presented != token.Digest(authorization):
		return token.Principal{}, errors.New("api: no verdict on this Authorization value")
	case v.Verdict == "allow" && v.Reason == "" && v.Subject != "" && v.TokenID != "":
		return token.Principal{Subject: v.Subject, TokenID: v.TokenID}, nil
	case v.Verdict == "deny" && known:
		return token.Principal{}, denial
	case v.Verdict == "unavailable":
		return token.Principal{}, token.ErrUnavailable
	}
	return token.Principal{}, errors.New("api: unknown verdict")
}

package api

import (
	"errors"

	"plantstore/internal/token"
)

// verdict is the authorizer's finding on a token. API Gateway passes it on in the function's event. The function
// compares Presented with the Authorization value that it sees itself, so that a verdict never serves
// another caller.
type verdict struct {
	Finding   string `json:"verdict"`           // "allow", "deny" or "unavailable"
	Presented string `json:"presented"`         // [token.Digest] of the Authorization value
	Subject   string `json:"subject,omitzero"`  // of the token that an "allow" is about
	TokenID   string `json:"token_id,omitzero"` // of the same
}

// newVerdict returns the verdict on an Authorization value. Its check ended with o and, if it succeeded, found the
// principal p.
func newVerdict(authorization string, p token.Principal, o outcome) verdict {
	presented := token.Digest(authorization)
	switch {
	case o.err == nil:
		return verdict{Finding: "allow", Presented: presented, Subject: p.Subject, TokenID: p.TokenID}
	case !o.isServiceFault(): // the token is missing, malformed or invalid
		return verdict{Finding: "deny", Presented: presented}
	}
	// Also for an internal error: the authorizer logs 5001, and the function answers 5003.
	return verdict{Finding: "unavailable", Presented: presented}
}

// principalFor returns the principal of the request that came with authorization, if v allows it. Without a
// well-formed token it returns the error of [parseBearer], whatever v is. With one it fails closed: anything but
// a verdict on this very value is an internal error, also if no authorizer ran.
//
// While a deployment shifts traffic, an authorizer and a function of two versions meet. So each must
// understand the verdicts of the version before and after. A new member is ignored. A new finding is an internal
// error to a function that does not know it, so the version that understands it comes before the one that sends it.
func (v verdict) principalFor(authorization string) (token.Principal, error) {
	if _, err := parseBearer(authorization); err != nil {
		return token.Principal{}, err
	}
	switch {
	case v.Presented != token.Digest(authorization):
		return token.Principal{}, errors.New("api: no verdict on this Authorization value")
	case v.Finding == "allow" && v.Subject != "" && v.TokenID != "":
		return token.Principal{Subject: v.Subject, TokenID: v.TokenID}, nil
	case v.Finding == "deny":
		return token.Principal{}, token.ErrInvalid
	case v.Finding == "unavailable":
		return token.Principal{}, token.ErrUnavailable
	}
	return token.Principal{}, errors.New("api: unknown or incomplete verdict")
}

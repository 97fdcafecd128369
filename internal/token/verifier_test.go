package token

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// finder is a Finder.
type finder func(id string) (Token, error)

func (find finder) Find(_ context.Context, id string) (Token, error) { return find(id) }

func TestVerify(t *testing.T) {
	bearer, issued := issue(t)
	_, other := issue(t)
	broken := errors.New("broken")
	revoked := issued
	revoked.Revoked = true
	otherSecret := issued
	otherSecret.Digest = other.Digest
	otherID := issued
	otherID.ID = other.ID
	tests := []struct {
		name   string
		stored Token // what the store returns
		err    error // of the store
		after  time.Duration
		want   error
		known  bool // the token has a principal
	}{
		{name: "a valid token in its last moment", stored: issued, after: time.Hour - 1, known: true},
		{name: "the moment of expiry", stored: issued, after: time.Hour, want: ReasonExpired, known: true},
		{name: "a revoked token", stored: revoked, want: ReasonRevoked, known: true},
		{name: "no token with this id", err: ErrNotFound, want: ReasonUnknown},
		{name: "the token with this id has another secret", stored: otherSecret, want: ReasonUnknown},
		{name: "the item has another id", stored: otherID, want: ReasonUnknown},
		{name: "the store is broken", stored: issued, err: broken, want: broken},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := finder(func(id string) (Token, error) {
				if id != issued.ID {
					t.Errorf("Find(%q), want the id in the token, %q", id, issued.ID)
				}
				return test.stored, test.err
			})
			now := func() time.Time { return noon.Add(test.after) }
			var want Principal
			if test.known {
				want = Principal{Subject: "alice", TokenID: issued.ID}
			}
			got, err := Verifier{Store: store, Now: now}.Verify(t.Context(), bearer)
			if got != want || !errors.Is(err, test.want) {
				t.Errorf("Verify = %+v, %v, want %+v, %v", got, err, want, test.want)
			}
		})
	}
}

// jwts is a JWTVerifier to which every token is valid.
type jwts struct{}

func (jwts) Verify(context.Context, string) (Principal, error) {
	return Principal{Subject: "https://issuer.example ann"}, nil
}

// Our prefix decides who verifies a token: the store, which is read only for what can be a token, or the
// issuer.
func TestWhoVerifies(t *testing.T) {
	bearer, issued := issue(t)
	const (
		jwt = "eyJ.e30." + prefix
		ann = "https://issuer.example ann"
	)
	tests := []struct {
		name    string
		bearer  string
		jwts    JWTVerifier
		subject string // empty if the token is malformed
	}{
		{name: "a token of ours, with an issuer", bearer: bearer, jwts: jwts{}, subject: "alice"},
		{name: "a malformed token of ours, with an issuer", bearer: prefix + "eyJ.e30.", jwts: jwts{}},
		{name: "a token without our prefix", bearer: jwt},
		{name: "a token without our prefix, with an issuer", bearer: jwt, jwts: jwts{}, subject: ann},
		{name: "our prefix in another case, with an issuer", bearer: strings.ToUpper(prefix), jwts: jwts{}, subject: ann},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			store := finder(func(string) (Token, error) {
				if test.bearer != bearer {
					t.Error("the store is read for what cannot be a token")
				}
				return issued, nil
			})
			verifier := Verifier{Store: store, Now: func() time.Time { return noon }, JWTs: test.jwts}
			var want error
			if test.subject == "" {
				want = ReasonForm
			}
			got, err := verifier.Verify(t.Context(), test.bearer)
			if got.Subject != test.subject || !errors.Is(err, want) {
				t.Errorf("Verify(%q) = %+v, %v, want %q, %v", test.bearer, got, err, test.subject, want)
			}
		})
	}
}

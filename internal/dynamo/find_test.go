package dynamo

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/internal/token"
)

// A token is found by its own item alone, read consistently, which DynamoDB Local does in any case.
func TestFindByAttempts(t *testing.T) {
	t.Parallel()
	const item = `{"Item":{"id":{"S":"i"},"digest":{"S":"d"},"subject":{"S":"s"},` +
		`"created_at":{"S":"2026-03-01T12:00:00Z"},"expires_at":{"N":"1800000000"}}}`
	tests := []struct {
		name     string
		attempts []http.HandlerFunc
		want     error // nil for the token
	}{
		{"the token", do(answer(200, item)), nil},
		{"the token after a failure", do(fail, answer(200, item)), nil},
		{"no token", do(succeed), token.ErrNotFound},
		{"no server", nil, token.ErrUnavailable},
		{"an item that is no token", do(answer(200, `{"Item":{"id":{"S":"i"}}}`)), errOther},
		{"a refusal", do(refuse("AccessDeniedException")), errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			fake := newFake(t, test.attempts...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			got, err := (&Tokens{Client: fake.client(), Table: "tokens"}).Find(ctx, "i")
			if !errors.Is(tokenOutcome(err), test.want) {
				t.Errorf("Find = %+v, %v, want %v", got, err, test.want)
			}
			if (err == nil) != (got.Subject == "s") {
				t.Errorf("Find = %+v, %v, want the token or an error", got, err)
			}
			for _, r := range fake.received() {
				if !strings.Contains(r.body, `"ConsistentRead":true`) {
					t.Errorf("Find sends %s, want a consistent read", r.body)
				}
			}
		})
	}
}

// tokenOutcome returns which of the errors that token.Finder promises err is, or errOther.
func tokenOutcome(err error) error {
	for _, promised := range []error{token.ErrNotFound, token.ErrUnavailable} {
		if errors.Is(err, promised) {
			return promised
		}
	}
	if err != nil {
		return errOther
	}
	return nil
}

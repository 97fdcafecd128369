package dynamo

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/token"
)

var issued = token.Token{
	ID:        "i",
	Digest:    "d",
	Subject:   "s",
	CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC),
	ExpiresAt: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
}

const (
	// issuedItem is the item for issued. Other programs read these attributes, and the table's TTL needs seconds.
	issuedItem = `{"created_at":{"S":"2026-03-01T12:00:00Z"},"digest":{"S":"d"},"expires_at":{"N":"253402300799"},` +
		`"id":{"S":"i"},"subject":{"S":"s"}}`
	bareItem = `{"id":{"S":"i"}}`
)

var revokedItem = strings.Replace(issuedItem, `"subject"`, `"revoked":{"BOOL":true},"subject"`, 1)

// withTokens calls do with a table that has these items, within the 1.7 s that the authorizer has.
func withTokens(t *testing.T, items string, outcomes []outcome, do func(context.Context, *Tokens, *fake)) {
	synctest.Test(t, func(t *testing.T) {
		fake := newFake(outcomes...)
		fake.store(items)
		ctx, cancel := context.WithTimeout(t.Context(), 1700*time.Millisecond)
		defer cancel()
		do(ctx, &Tokens{Client: newClient(fake), Table: "tokens"}, fake)
	})
}

func TestFind(t *testing.T) {
	revoked := issued
	revoked.Revoked = true
	expired := issued
	expired.ExpiresAt = time.Time{}
	change := func(from, to string) string { return strings.Replace(revokedItem, from, to, 1) }
	tests := []struct {
		name     string
		items    string
		outcomes []outcome
		want     token.Token
		wantErr  error
	}{
		{name: "valid", items: issuedItem, want: issued},
		{name: "revoked", items: revokedItem, want: revoked},
		{name: "unknown", wantErr: token.ErrNotFound},
		{name: "not revoked", items: change("true", "false"), want: issued},
		{
			name:  "no expiry time",
			items: strings.Replace(issuedItem, `"expires_at":{"N":"253402300799"},`, "", 1), want: expired,
		},
		{name: "another program's Revoked", items: change(`"revoked"`, `"Revoked":{"BOOL":false},"revoked"`), want: revoked},
		{
			name:  "another program's Digest",
			items: change(`"digest"`, `"DIGEST":{"S":"e"},"Digest":{"N":"1"},"digest"`), want: revoked,
		},
		{name: "only Revoked", items: change(`"revoked":{"BOOL":true}`, `"Revoked":{"BOOL":true}`), want: issued},
		{name: "revoked is a string", items: change(`"BOOL":true`, `"S":"true"`), wantErr: errOther},
		{name: "revoked is a number", items: change(`"BOOL":true`, `"N":"1"`), wantErr: errOther},
		{name: "expires_at is a string", items: change(`"N":"253402300799"`, `"S":"soon"`), wantErr: errOther},
		{name: "created_at is not a time", items: change("2026-03-01T12:00:00Z", "yesterday"), wantErr: errOther},
		{name: "no digest", items: change(`"digest":{"S":"d"},`, ""), wantErr: errOther},
		{name: "no subject", items: change(`,"subject":{"S":"s"}`, ""), wantErr: errOther},
		{
			name: "two lost answers", items: issuedItem,
			outcomes: []outcome{{fault: noAnswer}, {fault: noAnswer}, answered}, want: issued,
		},
		{name: "throttling", items: issuedItem, outcomes: []outcome{{fault: throttling}}, wantErr: token.ErrUnavailable},
		{name: "refusal", items: issuedItem, outcomes: []outcome{{fault: accessDenied}}, wantErr: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withTokens(t, test.items, test.outcomes, func(ctx context.Context, tokens *Tokens, _ *fake) {
				got, err := tokens.Find(ctx, "i")
				if got != test.want || !errors.Is(contractError(err), test.wantErr) {
					t.Errorf("Find = %+v, %v, want %+v, %v", got, err, test.want, test.wantErr)
				}
			})
		})
	}
}

func TestAdd(t *testing.T) {
	lost := outcome{applied: true, fault: noAnswer}
	change := func(from, to string) string { return strings.Replace(issuedItem, from, to, 1) }
	anotherDigest := change(`"d"`, `"e"`)
	anotherSubject := change(`"s"`, `"t"`)
	createdLater := change("12:00:00", "12:00:01")
	expiresEarlier := change("253402300799", "253402300798")
	tests := []struct {
		name       string
		stored     string // before the call
		outcomes   []outcome
		want       error
		wantStored string
	}{
		{name: "new", wantStored: issuedItem},
		{name: "lost answer", outcomes: []outcome{lost, answered}, wantStored: issuedItem},
		{name: "revoked meanwhile", stored: revokedItem, wantStored: revokedItem},
		{name: "another digest", stored: anotherDigest, want: errOther, wantStored: anotherDigest},
		{name: "another subject", stored: anotherSubject, want: errOther, wantStored: anotherSubject},
		{name: "another creation time", stored: createdLater, want: errOther, wantStored: createdLater},
		{name: "another expiry time", stored: expiresEarlier, want: errOther, wantStored: expiresEarlier},
		{name: "an item that is not a token", stored: bareItem, want: errOther, wantStored: bareItem},
		{name: "lost answers", outcomes: []outcome{lost}, want: token.ErrUnavailable, wantStored: issuedItem},
		{name: "refusal", outcomes: []outcome{{fault: accessDenied}}, want: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withTokens(t, test.stored, test.outcomes, func(ctx context.Context, tokens *Tokens, fake *fake) {
				err := tokens.Add(ctx, issued)
				if got := fake.item("i"); !errors.Is(contractError(err), test.want) || got != test.wantStored {
					t.Errorf("Add = %v, stored %s, want %v, %s", err, got, test.want, test.wantStored)
				}
			})
		})
	}
}

func TestRevoke(t *testing.T) {
	lost := outcome{applied: true, fault: noAnswer}
	tests := []struct {
		name       string
		stored     string // before the call
		outcomes   []outcome
		want       error
		wantStored string
	}{
		{name: "valid", stored: issuedItem, wantStored: revokedItem},
		{name: "an item that is not a token", stored: bareItem, wantStored: `{"id":{"S":"i"},"revoked":{"BOOL":true}}`},
		{name: "unknown", want: token.ErrNotFound},
		{name: "lost answer", stored: issuedItem, outcomes: []outcome{lost, answered}, wantStored: revokedItem},
		{name: "lost answers", stored: issuedItem, outcomes: []outcome{lost}, want: token.ErrUnavailable, wantStored: revokedItem},
		{name: "refusal", stored: issuedItem, outcomes: []outcome{{fault: accessDenied}}, want: errOther, wantStored: issuedItem},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withTokens(t, test.stored, test.outcomes, func(ctx context.Context, tokens *Tokens, fake *fake) {
				err := tokens.Revoke(ctx, "i")
				if got := fake.item("i"); !errors.Is(contractError(err), test.want) || got != test.wantStored {
					t.Errorf("Revoke = %v, stored %s, want %v, %s", err, got, test.want, test.wantStored)
				}
			})
		})
	}
}

// List reads every page. Each page has its own time limit, even if List has no deadline.
func TestList(t *testing.T) {
	second := issued
	second.ID = "j"
	secondItem := strings.Replace(issuedItem, `"i"`, `"j"`, 1)
	both := []token.Token{issued, second}
	tests := []struct {
		name     string
		items    string
		outcomes []outcome
		want     []token.Token
		wantErr  error
	}{
		{name: "two pages", items: issuedItem + secondItem, want: both},
		{name: "an item that is not a token", items: bareItem + secondItem, want: both[1:], wantErr: errOther},
		{
			name: "lost page", items: issuedItem + secondItem,
			outcomes: []outcome{answered, {fault: noAnswer}, answered}, want: both,
		},
		{
			name: "throttling", items: issuedItem + secondItem,
			outcomes: []outcome{answered, {fault: throttling}}, wantErr: token.ErrUnavailable,
		},
		{name: "refusal", items: issuedItem + secondItem, outcomes: []outcome{answered, {fault: accessDenied}}, wantErr: errOther},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			withTokens(t, test.items, test.outcomes, func(ctx context.Context, tokens *Tokens, _ *fake) {
				start := time.Now()
				got, err := tokens.List(context.WithoutCancel(ctx))
				if !reflect.DeepEqual(got, test.want) || !errors.Is(contractError(err), test.wantErr) {
					t.Errorf("List = %+v, %v, want %+v, %v", got, err, test.want, test.wantErr)
				}
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("List took %v, want at most 10 s", took)
				}
			})
		})
	}
}

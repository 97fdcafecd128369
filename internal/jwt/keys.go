package jwt

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

const (
	fetchInterval = time.Minute // from a fetch that succeeded to the next, and the longest wait after failures
	firstWait     = time.Second // after the first failure; each further one doubles it
	maxAge        = time.Hour   // of keys, after which they are fetched again

	fetchTimeout = 1500 * time.Millisecond // for one fetch: shorter than budget.AuthorizerWait
)

// keys are the public keys of an issuer. They are fetched for a token that needs a key which is missing, and
// when they are an hour old. If a fetch fails, the keys stay in use. Whatever tokens come, they cause at most
// one fetch a minute, and a few more after a failure.
type keys struct {
	issuer string
	client *http.Client // follows no redirect

	mutex     sync.Mutex // also held during a fetch, for at most fetchTimeout
	byID      map[string][]jose.JSONWebKey
	fetchedAt time.Time // when the fetch of byID began
	nextFetch time.Time // when another may begin

	err  error         // of the last fetch
	wait time.Duration // after the last fetch, if that failed
	url  string        // of the keys, if it is known
}

// find returns the keys with this id. If there are none, it returns reasonKey, or [token.ErrUnavailable]
// if the last fetch failed.
func (k *keys) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	if id == "" {
		return nil, reasonKey
	}
	k.mutex.Lock()
	defer k.mutex.Unlock()
	now := wallClock()
	needed := k.byID[id] == nil || now.Sub(k.fetchedAt) >= maxAge
	if needed && !now.Before(k.nextFetch) {
		k.err = k.fetch(ctx)
		k.schedule()
	}
	if found := k.byID[id]; found != nil {
		return found, nil
	}
	if k.err != nil {
		return nil, fmt.Errorf("%w: %w; next attempt from %s", token.ErrUnavailable, k.err, k.nextFetch.UTC().Format(time.TimeOnly))
	}
	return nil, reasonKey
}

// wallClock returns the time without a reading of the monotonic clock, which may stop while Lambda freezes
// a process.
func wallClock() time.Time { return time.Now().Round(0) }

// schedule sets when the next fetch may begin: a minute after a success, and 1, 2, 4 … 60 s after
// failures in a row. The time counts from the end of the last fetch, so that callers who waited for it
// do not all begin another.
func (k *keys) schedule() {
	ended := wallClock()
	if k.err == nil {
		k.wait = 0
		k.nextFetch = ended.Add(fetchInterval)
		return
	}
	k.wait = min(max(2*k.wait, firstWait), fetchInterval)
	k.nextFetch = ended.Add(k.wait)
}

// fetch replaces the keys. If their URL is not known, it discovers the URL first. The discovery may take so long
// that no time is left for the keys, so the next fetch uses the URL that was found. If a fetch from a URL that
// was already known fails, the next one discovers the URL again: the keys may have moved.
func (k *keys) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	defer k.client.CloseIdleConnections() // Lambda may freeze the process for hours
	began := wallClock()
	known := k.url != ""
	if !known {
		url, err := k.discover(ctx)
		if err != nil {
			return err
		}
		k.url = url
	}
	byID, err := k.download(ctx, k.url)
	if err != nil {
		if known {
			k.url = ""
		}
		return err
	}
	k.byID = byID
	k.fetchedAt = began
	return nil
}

// download returns the keys at a URL that verify signatures, by their ids. There may be none, when an
// issuer has withdrawn all.
func (k *keys) download(ctx context.Context, url string) (map[string][]jose.JSONWebKey, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := get(ctx, k.client, url, &set); err != nil {
		return nil, err
	}
	if set.Keys == nil {
		return nil, errors.New("jwt: the answer has no list of keys")
	}
	byID := map[string][]jose.JSONWebKey{}
	for _, value := range set.Keys {
		if key, ok := decodeKey(value); ok {
			byID[key.KeyID] = append(byID[key.KeyID], key)
		}
	}
	return byID, nil
}

// decodeKey returns a key, and reports whether it is public and verifies signatures.
func decodeKey(value jsontext.Value) (jose.JSONWebKey, bool) {
	var key jose.JSONWebKey
	if err := key.UnmarshalJSON(value); err != nil { // also for a kind that go-jose does not know
		return key, false
	}
	var parameters struct { // that go-jose does not decode
		Operations []string `json:"key_ops"`
	}
	if err := json.Unmarshal(value, &parameters); err != nil {
		return key, false
	}
	if key.Use == "enc" || parameters.Operations != nil && !slices.Contains(parameters.Operations, "verify") {
		return key, false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return key, public.N.BitLen() >= 2048 // RFC 7518, section 3.3
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return key, true
	}
	return key, false
}

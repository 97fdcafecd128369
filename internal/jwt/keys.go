package jwt

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/tls"
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"plantstore/internal/token"
)

const (
	interval     = time.Minute             // the shortest time from one fetch to the next
	maxAge       = time.Hour               // of keys, after which they are fetched again
	fetchTimeout = 1500 * time.Millisecond // leaves the authorizer time to answer
	maxAnswer    = 1 << 20                 // bytes
	maxURL       = 2048                    // bytes
)

// keys are the public keys of an issuer. They are fetched when a token needs a key that is missing or
// an hour old, but at most once a minute, whatever tokens come: go-oidc would fetch for each forged
// one. They stay in use until a fetch succeeds.
type keys struct {
	issuer string
	client *http.Client // follows no redirect
	now    func() time.Time

	mu      sync.Mutex // also held during a fetch, for at most fetchTimeout
	current map[string][]crypto.PublicKey
	at      time.Time // when the fetch of current began
	tried   time.Time // when the last fetch began
	err     error     // of the last fetch
	url     string    // of the keys, once it is discovered
}

// find returns the keys with this id. If there are none, it returns
// [token.ErrInvalid], or [token.ErrUnavailable] if the last fetch failed.
func (k *keys) find(ctx context.Context, id string) ([]crypto.PublicKey, error) {
	if id == "" {
		return nil, token.ErrInvalid
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	missing := k.current[id] == nil || now.Sub(k.at) >= maxAge
	if missing && now.Sub(k.tried) >= interval {
		k.tried = now
		k.err = k.fetch(ctx)
	}
	switch found := k.current[id]; {
	case found != nil:
		return found, nil
	case k.err != nil:
		return nil, fmt.Errorf("%w: %w", token.ErrUnavailable, k.err)
	}
	return nil, token.ErrInvalid
}

// fetch replaces the keys. Its error repeats no answer.
func (k *keys) fetch(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	defer k.client.CloseIdleConnections() // Lambda may freeze the process for hours
	if k.url == "" {
		var document struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
		}
		err := k.get(ctx, strings.TrimSuffix(k.issuer, "/")+"/.well-known/openid-configuration", &document)
		switch {
		case err != nil:
			return err
		case document.Issuer != k.issuer:
			return errors.New("jwt: the discovery document names another issuer")
		case !strings.HasPrefix(document.Keys, "https:") && strings.HasPrefix(k.issuer, "https:"):
			return errors.New("jwt: the discovery document has no https URL of the keys")
		}
		k.url = document.Keys
	}
	url := k.url
	k.url = "" // discovered again if the keys cannot be fetched there
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := k.get(ctx, url, &set); err != nil {
		return err
	}
	current := map[string][]crypto.PublicKey{}
	for _, value := range set.Keys {
		var key jose.JSONWebKey
		// A key of a kind that go-jose does not know is an error.
		if key.UnmarshalJSON(value) == nil && verifies(key) {
			current[key.KeyID] = append(current[key.KeyID], key.Key)
		}
	}
	if len(current) == 0 {
		return errors.New("jwt: the answer has no key that verifies signatures")
	}
	k.at, k.current, k.url = k.tried, current, url
	return nil
}

// verifies reports whether a key is for signatures of our algorithms, and public.
func verifies(key jose.JSONWebKey) bool {
	if key.Use == "enc" || key.Algorithm != "" && !slices.Contains(algorithms, jose.SignatureAlgorithm(key.Algorithm)) {
		return false
	}
	switch public := key.Key.(type) {
	case *rsa.PublicKey:
		return public.N.BitLen() >= 2048 // RFC 7518, section 3.3
	case *ecdsa.PublicKey, ed25519.PublicKey:
		return true
	}
	return false
}

// get decodes the JSON at address into value.
func (k *keys) get(ctx context.Context, address string, value any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil || request.URL.User != nil || len(address) > maxURL {
		return errors.New("jwt: the URL of the keys is malformed")
	}
	address = request.URL.Host
	answer, err := k.client.Do(request)
	if err != nil {
		cause := fmt.Errorf("timed out = %t", os.IsTimeout(err)) // the text of another error may repeat the answer
		if network, ok := errors.AsType[*net.OpError](err); ok {
			cause = network
		} else if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
			cause = certificate
		}
		return fmt.Errorf("jwt: no answer from %s: %w", address, cause)
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Content-Type"), "json") {
		return fmt.Errorf("jwt: %s does not answer with status 200 and JSON, but with status %d", address, answer.StatusCode)
	}
	if json.UnmarshalRead(http.MaxBytesReader(nil, answer.Body, maxAnswer), value) != nil {
		return fmt.Errorf("jwt: the answer of %s is not JSON, or is over 1 MB", address)
	}
	return nil
}

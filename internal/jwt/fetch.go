package jwt

import (
	"context"
	"crypto/tls"
	"encoding/json/v2"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
)

const (
	maxAnswer = 1 << 20 // bytes
	maxURL    = 2048    // bytes
)

// isSafe reports whether nobody can change an answer from u on its way. URLs of https are safe, and http
// URLs of this machine. Containers call the machine host.docker.internal.
func isSafe(u *url.URL) bool {
	if u.Scheme == "http" {
		return slices.Contains([]string{"localhost", "127.0.0.1", "::1", "host.docker.internal"}, u.Hostname())
	}
	return u.Scheme == "https" && u.Hostname() != ""
}

// discover returns the URL of the keys. It is as safe as the issuer's.
func (k *keys) discover(ctx context.Context) (string, error) {
	var document struct {
		Issuer string `json:"issuer"`
		Keys   string `json:"jwks_uri"`
	}
	err := get(ctx, k.client, strings.TrimSuffix(k.issuer, "/")+"/.well-known/openid-configuration", &document)
	if err != nil {
		return "", err
	}
	if document.Issuer != k.issuer {
		return "", errors.New("jwt: the discovery document names another issuer")
	}
	u, err := url.Parse(document.Keys)
	if err != nil || !isSafe(u) || u.User != nil || len(document.Keys) > maxURL || !strings.HasPrefix(k.issuer, u.Scheme+":") {
		return "", errors.New("jwt: the discovery document has an unusable jwks_uri")
	}
	return document.Keys, nil
}

// get decodes the JSON at address into value. Its error contains nothing of the answer.
func get(ctx context.Context, client *http.Client, address string, value any) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return err
	}
	host := request.URL.Host
	answer, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("jwt: no answer from %s: %w", host, cause(err))
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	if answer.StatusCode != http.StatusOK || !strings.Contains(answer.Header.Get("Content-Type"), "json") {
		return fmt.Errorf("jwt: %s does not answer with status 200 and JSON, but with status %d", host, answer.StatusCode)
	}
	if err := json.UnmarshalRead(http.MaxBytesReader(nil, answer.Body, maxAnswer), value); err != nil {
		return fmt.Errorf("jwt: the answer of %s is not JSON, is over 1 MB, or does not end in time", host)
	}
	return nil
}

// cause returns an error for the log. err is an error of the HTTP client, and its text may repeat the answer.
func cause(err error) error {
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return certificate
	}
	if os.IsTimeout(err) {
		return context.DeadlineExceeded
	}
	return errors.New("it does not speak HTTP, or hung up")
}

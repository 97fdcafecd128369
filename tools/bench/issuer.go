package main

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"time"
)

// newIssuer starts an issuer with an RSA key, as identity providers have. It returns
// the variables that a function needs, and a JWT.
func newIssuer(certificate tls.Certificate) (variables []string, bearer string) {
	key := must(rsa.GenerateKey(rand.Reader, 2048))
	encode := base64.RawURLEncoding.EncodeToString
	object := func(value map[string]any) string { return encode(must(json.Marshal(value))) }
	server := httptest.NewUnstartedServer(nil)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS()
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// The discovery document and the keys in one.
		_ = json.NewEncoder(w).Encode(map[string]any{
			"issuer": server.URL, "jwks_uri": server.URL,
			"keys": []any{map[string]string{
				"kty": "RSA", "kid": "1", "n": encode(key.N.Bytes()), "e": encode(big.NewInt(int64(key.E)).Bytes()),
			}},
		})
	})
	signed := object(map[string]any{"alg": "RS256", "typ": "at+jwt", "kid": "1"}) + "." + object(map[string]any{
		"iss": server.URL, "aud": "plants", "sub": "gardener", "jti": "1", "exp": time.Now().Add(24 * time.Hour).Unix(),
	})
	hash := sha256.Sum256([]byte(signed))
	signature := must(rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, hash[:]))
	return []string{"TOKEN_ISSUER=" + server.URL, "TOKEN_AUDIENCE=plants"}, signed + "." + encode(signature)
}

package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"hash/crc32"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"plantstore/internal/token"
)

// standIn answers over TLS as DynamoDB does, after latency: each put succeeds,
// and the token of the sample events is there.
func standIn(certificate tls.Certificate, latency time.Duration) *httptest.Server {
	item := tokenItem()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return
		}
		time.Sleep(latency)
		answer := "{}"
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			answer = item
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(answer))))
		w.Header().Set("X-Amzn-Requestid", "8476A536E9F411E897392DFE598C3FCD8476A536E9F411E89739")
		_, _ = io.WriteString(w, answer) // a function that has gone shows elsewhere
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS() // HTTP/1.1 alone, as DynamoDB
	return server
}

// newCertificate returns a certificate for loopback that is its own root. Its key
// is of P-256, whose signatures cost the stand-in little: with RSA's, each cold
// start would wait for the stand-in's work.
func newCertificate() tls.Certificate {
	key := must(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der := must(x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// tokenItem returns the answer to a GetItem of the token of the sample events.
func tokenItem() string {
	event := must(os.ReadFile("events/authorizer/create.json"))
	bearer := string(regexp.MustCompile(`pst_\w+`).Find(event))
	id, _ := token.ID(bearer)
	return fmt.Sprintf(`{"Item":{"id":{"S":%q},"digest":{"S":%q},"subject":{"S":"gardener"},`+
		`"created_at":{"S":"2026-01-01T00:00:00Z"},"expires_at":{"N":"%d"}}}`,
		id, token.Digest(bearer), time.Now().Add(24*time.Hour).Unix())
}

// trust writes the roots that the functions find into folder, and returns the
// variables by which they find them: ours the five Amazon roots that they have
// embedded, the default way those of the system, laid out as in Amazon Linux 2023,
// whose directory has the bundle once more, and once as trusted certificates. All
// trust the stand-in as well.
func trust(folder string, certificate tls.Certificate) (ours, system []string) {
	standIn := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate.Certificate[0]})
	bundle, err := os.ReadFile("/etc/ssl/certs/ca-certificates.crt") // of Debian
	if err != nil {
		bundle, err = os.ReadFile("/etc/pki/tls/certs/ca-bundle.crt") // of Amazon Linux
	}
	check(err)
	write := func(name string, contents ...[]byte) string {
		path := filepath.Join(folder, name)
		check(os.MkdirAll(filepath.Dir(path), 0o700))
		check(os.WriteFile(path, bytes.Join(contents, nil), 0o600))
		return path
	}
	amazon := write("amazon/roots.pem", must(os.ReadFile("internal/dynamo/amazon-roots.pem")), standIn)
	all := write("system/ca-bundle.crt", bundle, standIn)
	write("system/ca-bundle.trust.crt", bytes.ReplaceAll(bundle, []byte("CERTIFICATE-"), []byte("TRUSTED CERTIFICATE-")))
	certs := filepath.Dir(all)
	ours = []string{"SSL_CERT_FILE=" + amazon, "SSL_CERT_DIR=" + filepath.Join(folder, "none")}
	// Go reads both /etc/ssl/certs and /etc/pki/tls/certs, which are one directory.
	system = []string{"SSL_CERT_FILE=" + all, "SSL_CERT_DIR=" + certs + ":" + certs}
	return ours, system
}

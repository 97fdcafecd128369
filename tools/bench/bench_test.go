// Package bench measures two answers of a function: the first, from the start of its process, and the second. It compares
// our functions with an empty one, and with one that is written in Go's usual way. Lambda's Runtime API is a stand-in,
// and so is DynamoDB, which answers over TLS after 4 ms.
//
//	make bench
package bench

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/token"
	"plantstore/test/processtest"
)

// The results are medians in ms, and for the first answer also the ratio to the empty function.
func BenchmarkFunctions(b *testing.B) {
	create, authorize := read(b, "../../events/createplant/create.json"), read(b, "../../events/authorizer/create.json")
	url, certificate := startDatabase(b, regexp.MustCompile(`pst_\w+`).FindString(authorize))
	// On Amazon Linux 2023, Go finds the system's roots three times: in a file, and in a folder with two names.
	roots := write(b, append([]byte(read(b, "/etc/ssl/certs/ca-certificates.crt")), certificate...))
	folder := filepath.Dir(roots)
	environment := processtest.Environment(url, "PLANTS_TABLE=plants", "TOKENS_TABLE=tokens",
		"AWS_SESSION_TOKEN="+strings.Repeat("t", 700), "SSL_CERT_FILE="+roots)
	usual := append(slices.Clone(environment), "SSL_CERT_DIR="+folder+":"+folder)
	ours := append(slices.Clone(environment), "SSL_CERT_DIR=none", "GOMAXPROCS=1", "GOGC=400", "GOMEMLIMIT=160MiB") // the first two as in template.yaml
	const tags = "-tags=lambda.norpc,nethttpomithttp2"                                                              // as in the Makefile
	functions := []struct {
		name, binary, event, want string
		environment               []string
		first, second             []float64 // ms
	}{
		{name: "empty", binary: build(b, "tools/bench/empty", tags), event: create, want: "200", environment: usual},
		{name: "createplant", binary: build(b, "cmd/createplant", tags), event: create, want: "Monstera", environment: ours},
		{name: "authorizer", binary: build(b, "cmd/authorizer", tags), event: authorize, want: "allow", environment: ours},
		{name: "usual", binary: build(b, "tools/bench/baseline"), event: create, want: "Monstera", environment: usual},
	}
	for b.Loop() {
		for i := range functions { // in turns, so that another load on the machine slows all
			f := &functions[i]
			answers := processtest.Invoke(b, f.binary, f.environment, f.event, f.event)
			for _, answer := range answers {
				if !strings.Contains(answer.Body, f.want) {
					b.Fatalf("%s answers %s, want %q in it", f.name, answer.Body, f.want)
				}
			}
			f.first = append(f.first, answers[0].Took.Seconds()*1e3)
			f.second = append(f.second, answers[1].Took.Seconds()*1e3)
		}
	}
	b.ReportMetric(0, "ns/op")
	empty := median(functions[0].first)
	for _, f := range functions {
		b.ReportMetric(median(f.first), "first-ms-"+f.name)
		b.ReportMetric(median(f.first)/empty, "first-x-"+f.name)
		b.ReportMetric(median(f.second), "second-ms-"+f.name)
	}
}

func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// startDatabase starts a stand-in for DynamoDB that accepts every request. It returns its URL and its certificate in PEM.
func startDatabase(b *testing.B, bearer string) (url string, certificate []byte) {
	id, _ := token.ParseID(bearer)
	item := fmt.Sprintf(`{"Item":{"id":{"S":%q},"digest":{"S":%q},"subject":{"S":"alice"},`+
		`"created_at":{"S":"2026-01-01T00:00:00Z"},"expires_at":{"N":"9999999999"}}}`, id, token.Digest(bearer))
	database := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		time.Sleep(4 * time.Millisecond)
		answer := "{}"
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			answer = item
		}
		_, _ = io.WriteString(w, answer) // if the function is gone, the benchmark fails anyway
	}))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // a handshake with the RSA key of httptest is slow
	if err != nil {
		b.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		b.Fatal(err)
	}
	database.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}}
	database.StartTLS()
	b.Cleanup(database.Close)
	return database.URL, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

func build(b *testing.B, folder string, flags ...string) (binary string) {
	binary = filepath.Join(b.TempDir(), "function")
	arguments := slices.Concat([]string{"build", "-o", binary}, flags, []string{"plantstore/" + folder})
	command := exec.CommandContext(b.Context(), "go", arguments...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		b.Fatalf("go build: %s", out)
	}
	return binary
}

// write writes roots to a new folder, in the two formats of Amazon Linux.
func write(b *testing.B, roots []byte) (file string) {
	file = filepath.Join(b.TempDir(), "roots.crt")
	trusted := bytes.ReplaceAll(roots, []byte("CERTIFICATE-"), []byte("TRUSTED CERTIFICATE-"))
	if err := errors.Join(os.WriteFile(file, roots, 0o600), os.WriteFile(file+".trust", trusted, 0o600)); err != nil {
		b.Fatal(err)
	}
	return file
}

func read(b *testing.B, file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	return string(content)
}

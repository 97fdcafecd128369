// Package bench measures the time from the start of a function's process until its first answer: of ours, of an empty
// one, and of one that is written in Go's usual way. Lambda's Runtime API is a stand-in, and so is DynamoDB, which
// answers over TLS after 4 ms.
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

// The result has the median of each function in ms, and how many times that of the empty one it is.
func BenchmarkColdStart(b *testing.B) {
	create, authorize := read(b, "../../events/createplant/create.json"), read(b, "../../events/authorizer/create.json")
	url, certificate := startDatabase(b, regexp.MustCompile(`pst_\w+`).FindString(authorize))
	environment := processtest.Environment(url, "PLANTS_TABLE=plants", "TOKENS_TABLE=tokens",
		"AWS_SESSION_TOKEN="+strings.Repeat("t", 700))
	ours := slices.Concat(environment, []string{"GOMAXPROCS=1", "GOGC=400", "GOMEMLIMIT=160MiB"}) // as in template.yaml
	// In place of the roots that ours embed, they read that of the stand-in.
	one := []string{"SSL_CERT_FILE=" + write(b, certificate), "SSL_CERT_DIR=none"}
	// On Amazon Linux 2023, Go finds the system's roots three times: in a file, and in a folder with two names.
	file := write(b, append([]byte(read(b, "/etc/ssl/certs/ca-certificates.crt")), certificate...))
	folder := filepath.Dir(file)
	system := []string{"SSL_CERT_FILE=" + file, "SSL_CERT_DIR=" + folder + ":" + folder}
	const tags = "-tags=lambda.norpc,nethttpomithttp2" // as in the Makefile
	createplant, usual := build(b, "cmd/createplant", tags), build(b, "tools/bench/baseline")
	functions := []struct {
		name, binary, event, want string
		environment               []string
		took                      []float64 // ms
	}{
		{"empty", build(b, "tools/bench/empty", tags), create, "200", environment, nil},
		{"createplant", createplant, create, "Monstera", slices.Concat(ours, one), nil},
		{"authorizer", build(b, "cmd/authorizer", tags), authorize, "allow", slices.Concat(ours, one), nil},
		{"createplant-system-roots", createplant, create, "Monstera", slices.Concat(ours, system), nil},
		{"usual", usual, create, "Monstera", slices.Concat(environment, one), nil},
		{"usual-system-roots", usual, create, "Monstera", slices.Concat(environment, system), nil},
	}
	for b.Loop() {
		for i, f := range functions { // in turns, so that another load on the machine slows all
			answer, took := processtest.Invoke(b, f.binary, f.environment, f.event)
			if !strings.Contains(answer, f.want) {
				b.Fatalf("%s answers %s, want %q in it", f.name, answer, f.want)
			}
			functions[i].took = append(functions[i].took, took.Seconds()*1e3)
		}
	}
	b.ReportMetric(0, "ns/op")
	empty := median(functions[0].took)
	for _, f := range functions {
		b.ReportMetric(median(f.took), "ms-"+f.name)
		b.ReportMetric(median(f.took)/empty, "x-"+f.name)
	}
}

func median(values []float64) float64 {
	return slices.Sorted(slices.Values(values))[len(values)/2]
}

// startDatabase starts a DynamoDB to which every request is a good one. It returns its URL and its certificate in PEM.
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
		_, _ = io.WriteString(w, answer) // if the function has gone, the benchmark notices
	}))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // each start would wait for the RSA key of httptest
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

// build builds the command in a folder of the module.
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

// write writes roots to a folder in both formats.
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

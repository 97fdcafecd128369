// Package bench measures the time from the start of a function's process until its first answer: of ours, of an empty
// one, and of one that is written in Go's usual way. Each runs as in Lambda, behind a stand-in for the Runtime API. Its
// DynamoDB is a stand-in that answers over TLS after 4 ms.
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
	"hash/crc32"
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

func BenchmarkColdStart(b *testing.B) {
	create, authorize := read(b, "../../events/createplant/create.json"), read(b, "../../events/authorizer/create.json")
	bearer := regexp.MustCompile(`pst_\w+`).FindString(authorize)
	id, _ := token.ParseID(bearer)
	item := fmt.Sprintf(`{"Item":{"id":{"S":%q},"digest":{"S":%q},"subject":{"S":"alice"},`+
		`"created_at":{"S":"2026-01-01T00:00:00Z"},"expires_at":{"N":"9999999999"}}}`, id, token.Digest(bearer))
	database := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // every request is a good one
		time.Sleep(4 * time.Millisecond)
		answer := "{}"
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			answer = item
		}
		w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(answer))))
		_, _ = io.WriteString(w, answer) // if the function has gone, its caller notices
	}))
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // with the RSA key of httptest, each start would wait for the stand-in
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
	database.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{raw}, PrivateKey: key}}} //nolint:gosec // it lives a minute
	database.StartTLS()
	defer database.Close()
	// Ours have the roots of DynamoDB embedded, so they read only that of the stand-in. Go's usual way reads all of the system's.
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
	ours, system := write(b, certificate), write(b, append([]byte(read(b, "/etc/ssl/certs/ca-certificates.crt")), certificate...))
	environment := processtest.Environment(database.URL, "PLANTS_TABLE=plants", "TOKENS_TABLE=tokens", "SSL_CERT_DIR=none",
		"AWS_SESSION_TOKEN="+strings.Repeat("t", 700))
	variables := slices.Concat(environment, []string{"GOMAXPROCS=1", "GOGC=400", "GOMEMLIMIT=160MiB", "SSL_CERT_FILE=" + ours}) // as in template.yaml
	// Amazon Linux 2023 has the bundle in two formats in one directory, which Go reads under two names.
	usual := slices.Concat(environment, []string{"SSL_CERT_FILE=" + system, "SSL_CERT_DIR=" + filepath.Dir(system) + ":" + filepath.Dir(system)})
	functions := []struct {
		name, folder, event, want string
		environment               []string
		took                      []float64 // ms
	}{
		{name: "empty", folder: "tools/bench/empty", event: create, want: "200", environment: environment},
		{name: "usual", folder: "tools/bench/baseline", event: create, want: "Monstera", environment: usual},
		{name: "createplant", folder: "cmd/createplant", event: create, want: "Monstera", environment: variables},
		{name: "authorizer", folder: "cmd/authorizer", event: authorize, want: "allow", environment: variables},
	}
	binaries := map[string]string{}
	for _, f := range functions {
		binaries[f.name] = processtest.Build(b, f.folder)
	}
	binaries["usual"] = filepath.Join(b.TempDir(), "usual")
	if out, err := exec.CommandContext(b.Context(), "go", "build", "-o", binaries["usual"], "./baseline").CombinedOutput(); err != nil {
		b.Fatalf("go build: %s", out) // without our tags
	}
	for b.Loop() {
		for i, f := range functions { // in turns, so that another load on the machine slows all
			answer, took := first(b, binaries[f.name], f.environment, f.event)
			if !strings.Contains(answer, f.want) {
				b.Fatalf("%s answers %s, want %q in it", f.name, answer, f.want)
			}
			functions[i].took = append(functions[i].took, took.Seconds()*1e3)
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, f := range functions {
		slices.Sort(f.took)
		b.ReportMetric(f.took[len(f.took)/2], "ms-"+f.name)
	}
}

// first starts a function, and returns its first answer and how long that took.
func first(b *testing.B, binary string, environment []string, event string) (answer string, took time.Duration) {
	answers := make(chan string, 1)
	gone := make(chan struct{})
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			answer, _ := io.ReadAll(r.Body) // the benchmark finds what it lacks
			answers <- string(answer)
			<-gone
			return
		}
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
		_, _ = io.WriteString(w, event) // it fails only if the function has ended
	}))
	function := exec.CommandContext(b.Context(), binary)
	function.Env = append([]string{"AWS_LAMBDA_RUNTIME_API=" + runtime.Listener.Addr().String()}, environment...)
	began := time.Now()
	if err := function.Start(); err != nil {
		b.Fatal(err)
	}
	answer = <-answers
	took = time.Since(began)
	_ = function.Process.Kill()
	_ = function.Wait() // the signal is its error
	close(gone)
	runtime.Close()
	return answer, took
}

func write(b *testing.B, content []byte) (file string) {
	file = filepath.Join(b.TempDir(), "roots.crt")
	trusted := bytes.ReplaceAll(content, []byte("CERTIFICATE-"), []byte("TRUSTED CERTIFICATE-")) // of another format
	if err := errors.Join(os.WriteFile(file, content, 0o600), os.WriteFile(file+".trust", trusted, 0o600)); err != nil {
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

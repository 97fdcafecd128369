// Package bench measures how fast our functions answer, compared with an empty one and one written in Go's usual way.
// Lambda's Runtime API is a stand-in, and so is DynamoDB, which answers over TLS after 4 ms.
//
//	make bench
//
// Lambda starts a function on a whole CPU, and gives one with 256 MB a seventh of a CPU from its first event on. So each
// function runs twice: with that share, and always on a whole CPU.
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
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/token"
	"plantstore/test/processtest"
)

// A function is what the benchmark measures. Its results are medians in ms: from the start of the process until it asks
// for its first event, and until it answers that event; from the second event until its answer; and the CPU time of a
// later request.
type function struct {
	name, binary, event, want string
	environment               []string
	measured                  map[string][]float64 // by unit, without the function's name
}

func BenchmarkFunctions(b *testing.B) {
	create, authorize := read(b, "../../events/createplant/create.json"), read(b, "../../events/authorizer/create.json")
	url, certificate := startDatabase(b, regexp.MustCompile(`pst_\w+`).FindString(authorize))
	// On Amazon Linux 2023, Go finds the root certificates three times: in a file, and in a folder with two names.
	roots := write(b, append([]byte(read(b, "/etc/ssl/certs/ca-certificates.crt")), certificate...))
	folder := filepath.Dir(roots)
	environment := processtest.Environment(url, "PLANTS_TABLE=plants", "TOKENS_TABLE=tokens",
		"AWS_SESSION_TOKEN="+strings.Repeat("t", 700), "SSL_CERT_FILE="+roots)
	usual := slices.Concat(environment, []string{"SSL_CERT_DIR=" + folder + ":" + folder})
	ours := slices.Concat(environment, variables(b))
	const tags = "-tags=lambda.norpc" // as in the Makefile
	functions := []function{
		{name: "empty", binary: build(b, "tools/bench/empty", tags), event: create, want: "200", environment: usual},
		{name: "createplant", binary: build(b, "cmd/createplant", tags), event: create, want: "Monstera", environment: ours},
		{name: "authorizer", binary: build(b, "cmd/authorizer", tags), event: authorize, want: "allow", environment: ours},
		{name: "usual", binary: build(b, "tools/bench/baseline"), event: create, want: "Monstera", environment: usual},
	}
	for b.Loop() {
		for i := range functions { // in turn, so that other load on the machine slows them all
			f := &functions[i]
			if f.measured == nil {
				f.measured = map[string][]float64{}
			}
			f.measure(b)
		}
	}
	b.ReportMetric(0, "ns/op")
	for _, f := range functions {
		for unit, values := range f.measured {
			b.ReportMetric(median(values), unit+"-"+f.name)
		}
	}
}

func (f *function) measure(b *testing.B) {
	add := func(unit string, took time.Duration) { f.measured[unit] = append(f.measured[unit], took.Seconds()*1e3) }
	start, share, _ := f.run(b, 2, throttle)
	add("start-ms", start)
	add("share-first-ms", start+share[0].Took)
	add("share-second-ms", share[1].Took)
	const requests = 100
	start, full, once := f.run(b, 2, func(*os.Process) {})
	add("full-first-ms", start+full[0].Took)
	add("full-second-ms", full[1].Took)
	_, _, often := f.run(b, 2+requests, func(*os.Process) {})
	add("cpu-ms", (often-once)/requests)
}

// run starts the function and gives it its event n times. From the first event on, limit runs alongside it. It returns
// how long the process took to ask for that event, the answers, and the CPU time that the process used.
func (f *function) run(
	b *testing.B, n int, limit func(*os.Process),
) (start time.Duration, answers []processtest.Answer, cpu time.Duration) {
	command := exec.CommandContext(b.Context(), f.binary)
	command.Env = slices.Clone(f.environment)
	events := slices.Repeat([]string{f.event}, n)
	begin := time.Now()
	ready := func() {
		start = time.Since(begin)
		go limit(command.Process)
	}
	answers, _ = processtest.InvokeCommand(b, command, ready, events...)
	for _, answer := range answers {
		if !strings.Contains(answer.Body, f.want) {
			b.Fatalf("%s answers %s, want %q in it", f.name, answer.Body, f.want)
		}
	}
	return start, answers, command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}

// throttle lets a process use a seventh of a CPU until it exits: once it has used its share of 20 ms, it is stopped for
// the rest of that time.
func throttle(process *os.Process) {
	const period = 20 * time.Millisecond
	const share = period / 7
	limit := cpuTime(process.Pid)
	for {
		end := time.Now().Add(period)
		limit = min(cpuTime(process.Pid), limit) + share // unused time is lost, and overuse is carried over
		for cpuTime(process.Pid) < limit && time.Now().Before(end) {
			time.Sleep(100 * time.Microsecond)
		}
		if process.Signal(syscall.SIGSTOP) != nil {
			return
		}
		time.Sleep(time.Until(end))
		_ = process.Signal(syscall.SIGCONT) // it fails if the process was killed
	}
}

// cpuTime returns the CPU time of all threads of a process. Source: Linux, Documentation/scheduler/sched-stats.rst.
func cpuTime(pid int) (total time.Duration) {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, file := range threads {
		content, _ := os.ReadFile(file) // a thread may have ended
		var nanoseconds int64
		_, _ = fmt.Sscan(string(content), &nanoseconds)
		total += time.Duration(nanoseconds)
	}
	return total
}

// variables returns the environment variables that template.yaml gives every function.
func variables(b *testing.B) (environment []string) {
	var template struct {
		Globals struct {
			Function struct {
				Environment struct {
					Variables map[string]string `yaml:"Variables"`
				} `yaml:"Environment"`
			} `yaml:"Function"`
		} `yaml:"Globals"`
	}
	if err := yaml.Unmarshal([]byte(read(b, "../../template.yaml")), &template); err != nil {
		b.Fatal(err)
	}
	for name, value := range template.Globals.Function.Environment.Variables {
		environment = append(environment, name+"="+value)
	}
	return environment
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
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader) // a handshake with httptest's RSA key is slow
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

// write writes roots to a new folder, in the two formats that Amazon Linux uses.
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

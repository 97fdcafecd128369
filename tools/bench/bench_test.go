// Package bench measures how fast createplant answers, beside an empty function and one written in Go's usual way.
// Lambda's Runtime API is a stand-in, and so is DynamoDB, which answers over TLS after 4 ms.
//
//	make bench
//
// As far as we know, Lambda starts a function on a whole CPU and, if it has 256 MB, gives it a seventh of a CPU from its
// first event on. So does the benchmark, which prints these medians for each function:
//
//   - start-ms: from the start of the process until it asks for its first event
//   - first-ms, second-ms: from that event, and from the next one, until the function answers it
//   - cpu-ms: the CPU time of a later request
package bench

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/internal/lambdatest"
)

func BenchmarkFunctions(b *testing.B) {
	fmt.Println("This takes about a minute, and a minute or two more the first time, to build the functions.")
	database := httptest.NewTLSServer(http.HandlerFunc(put))
	defer database.Close()
	roots := writeRoots(b, database.Certificate().Raw)
	folder := filepath.Dir(roots)
	environment := lambdatest.Environment(database.URL, "PLANTS_TABLE=plants", "SSL_CERT_FILE="+roots,
		"AWS_SESSION_TOKEN="+strings.Repeat("t", 700)) // about as long as Lambda's
	usual := slices.Concat(environment, []string{"SSL_CERT_DIR=" + folder + ":" + folder})
	ours := slices.Concat(environment, []string{"SSL_CERT_DIR=none", "GOMAXPROCS=1"}) // template.yaml's
	for _, function := range []struct {
		name, source string
		environment  []string
	}{
		{name: "empty", source: "tools/bench/empty", environment: usual},
		{name: "createplant", source: "cmd/createplant", environment: ours},
		{name: "usual", source: "tools/bench/baseline", environment: usual},
	} {
		b.Run(function.name, func(b *testing.B) { benchmark(b, build(b, function.source), function.environment) })
	}
}

func benchmark(b *testing.B, binary string, environment []string) {
	event := read(b, "../../events/createplant/create.json")
	measured := map[string][]float64{} // in ms, by metric
	for b.Loop() {
		for metric, took := range measure(b, binary, environment, event) {
			measured[metric] = append(measured[metric], took.Seconds()*1e3)
		}
	}
	b.ReportMetric(0, "ns/op") // otherwise go prints the duration of all that as well
	for metric, values := range measured {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], metric)
	}
}

// measure runs a function in a new process.
func measure(b *testing.B, binary string, environment []string, event string) map[string]time.Duration {
	begin := time.Now()
	function := lambdatest.Start(b, binary, environment)
	start := time.Since(begin)
	go limit(function.Process)
	first := invoke(b, function, event)
	second := invoke(b, function, event)
	const later = 20
	before := cpuTime(function.Pid)
	for range later {
		invoke(b, function, event)
	}
	cpu := (cpuTime(function.Pid) - before) / later
	function.Stop()
	return map[string]time.Duration{"start-ms": start, "first-ms": first, "second-ms": second, "cpu-ms": cpu}
}

func invoke(b *testing.B, function *lambdatest.Function, event string) time.Duration {
	answer := function.Invoke(event)
	if want := `"statusCode":200`; !strings.Contains(answer.Body, want) {
		b.Fatalf("the function answers %s, want %s in it", answer.Body, want)
	}
	return answer.Took
}

// limit lets a process use a seventh of a CPU until it exits: once it has used its share of 20 ms, it is stopped for the
// rest of that time.
func limit(process *os.Process) {
	const period = 20 * time.Millisecond
	allowed := cpuTime(process.Pid)
	for process.Signal(syscall.SIGCONT) == nil { // it fails once the process has exited
		end := time.Now().Add(period)
		allowed = min(cpuTime(process.Pid), allowed) + period/7 // unused time is lost, and overuse is carried over
		for time.Now().Before(end) {
			if cpuTime(process.Pid) < allowed {
				time.Sleep(100 * time.Microsecond)
				continue
			}
			_ = process.Signal(syscall.SIGSTOP)
			time.Sleep(time.Until(end))
		}
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

// put answers as DynamoDB does when it has stored an item.
func put(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	time.Sleep(4 * time.Millisecond)
	_, _ = io.WriteString(w, "{}") // if the function is gone, the benchmark fails anyway
}

// writeRoots writes this machine's root certificates, and the given one, as Amazon Linux 2023 has them. Go finds them
// there three times: in the file whose name it returns, and in a folder with two names, where they also have another
// format.
func writeRoots(b *testing.B, certificate []byte) (file string) {
	roots := []byte(read(b, "/etc/ssl/certs/ca-certificates.crt"))
	roots = append(roots, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})...)
	trusted := bytes.ReplaceAll(roots, []byte("CERTIFICATE-"), []byte("TRUSTED CERTIFICATE-"))
	file = filepath.Join(b.TempDir(), "roots.crt")
	if err := errors.Join(os.WriteFile(file, roots, 0o600), os.WriteFile(file+".trust", trusted, 0o600)); err != nil {
		b.Fatal(err)
	}
	return file
}

func build(b *testing.B, source string) (binary string) {
	binary = filepath.Join(b.TempDir(), "function")
	command := exec.CommandContext(b.Context(), "go", "build", "-tags=lambda.norpc", "-o", binary, "plantstore/"+source)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		b.Fatalf("go build: %s", out)
	}
	return binary
}

func read(b *testing.B, file string) string {
	content, err := os.ReadFile(file)
	if err != nil {
		b.Fatal(err)
	}
	return string(content)
}

package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/token"
	"plantstore/test/runtimeapi"
)

// wholeCPU is the memory size in MB that has a whole CPU. Source: Lambda Developer
// Guide, "Configure Lambda function memory".
const wholeCPU = 1769

// function is a function that tools/bench/run has built, with the event that it gets.
type function struct {
	folder      string // of bin/bench
	environment []string
	event       []byte
	want        string // is in each answer
}

// newFunctions returns the functions to measure, the empty one first.
func newFunctions() []function {
	create := must(os.ReadFile("events/createplant/create.json"))
	authorize := must(os.ReadFile("events/authorizer/create.json"))
	mistyped := bytes.Replace(authorize, []byte("SampleToken"), []byte("SimpleToken"), 1)
	// Ours have Amazon's roots embedded.
	ours := append(templateVariables(), "SSL_CERT_FILE=bin/bench/amazon.pem", "SSL_CERT_DIR=none")
	// Go reads both /etc/ssl/certs and /etc/pki/tls/certs. In Amazon Linux 2023 they are one directory.
	system := []string{"SSL_CERT_FILE=bin/bench/system/ca-bundle.crt", "SSL_CERT_DIR=bin/bench/system:bin/bench/system"}
	return []function{
		{folder: "empty", event: create, want: "200"},
		{folder: "baseline", environment: system, event: create, want: "Monstera"},
		{folder: "createplant", environment: ours, event: create, want: "Monstera"},
		{folder: "authorizer", environment: ours, event: authorize, want: "allow"},
		{folder: "authorizer", environment: ours, event: mistyped, want: "deny"},
	}
}

// templateVariables returns the variables that template.yaml gives to every
// function.
func templateVariables() (variables []string) {
	var section map[string]any
	check(yaml.Unmarshal(must(os.ReadFile("template.yaml")), &section))
	for _, key := range []string{"Globals", "Function", "Environment", "Variables"} {
		section, _ = section[key].(map[string]any)
	}
	for name, value := range section {
		variables = append(variables, fmt.Sprint(name, "=", value))
	}
	return variables
}

// process is a running function.
type process struct {
	function
	*runtimeapi.Function
}

// start starts the function with DynamoDB at endpoint, and returns the time until
// it asks for its first invocation.
func (f function) start(endpoint string) (process, time.Duration) {
	environment := append([]string{
		"PLANTS_TABLE=plants", "TOKENS_TABLE=tokens", "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=" + strings.Repeat("t", 700),
	}, f.environment...)
	environment = append(environment, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint) // the last of two counts
	p := must(runtimeapi.Start(filepath.Join("bin/bench", f.folder, "bootstrap"), environment...))
	select {
	case <-p.Ready:
	case <-p.Ended:
		check(fmt.Errorf("%s ended: %v, %s", f.folder, p.Process.ProcessState, &p.Log))
	}
	return process{function: f, Function: p}, time.Since(p.Started)
}

// cold returns the time from the start of the process until its first answer. After
// the initialization, for which Lambda gives a whole CPU, the process has the CPU
// share of this memory size in MB.
func (f function) cold(endpoint string, memory int) time.Duration {
	p, took := f.start(endpoint)
	defer p.Stop()
	if memory < wholeCPU {
		group := "/sys/fs/cgroup/cpu/bench-" + f.folder // of cgroup v1; it stays
		check(os.MkdirAll(group, 0o755))                //nolint:gosec // as the kernel makes them
		for file, value := range map[string]int{
			"cpu.cfs_quota_us": 100_000 * memory / wholeCPU, // of the kernel's default period; Lambda's is not documented
			"cgroup.procs":     p.Process.Process.Pid,
		} {
			check(os.WriteFile(filepath.Join(group, file), []byte(strconv.Itoa(value)), 0o600))
		}
	}
	return took + p.call()
}

// call invokes the function and returns how long it took to answer.
func (p process) call() time.Duration {
	answer, took, err := p.Invoke(p.event, 10*time.Second)
	check(err)
	if !bytes.Contains(answer, []byte(p.want)) {
		check(fmt.Errorf("%s answered %.200s, want %q in it", p.folder, answer, p.want))
	}
	return took
}

// cpuTime returns the CPU time of the process so far, as the scheduler counts it.
func (p process) cpuTime() (total time.Duration) {
	for _, file := range must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Process.Process.Pid))) {
		var onCPU time.Duration
		must(fmt.Sscan(string(must(os.ReadFile(file))), &onCPU))
		total += onCPU
	}
	return total
}

// peakMemory returns the largest resident memory of the process so far, in MB.
func (p process) peakMemory() float64 {
	status := must(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Process.Pid)))
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kB float64
	must(fmt.Sscan(after, &kB))
	return kB / 1000
}

// standIn answers over TLS as DynamoDB does, after latency: each put succeeds, and
// the token of the sample events is there.
func standIn(latency time.Duration) *httptest.Server {
	bearer := string(regexp.MustCompile(`pst_\w+`).Find(must(os.ReadFile("events/authorizer/create.json"))))
	id, _ := token.ID(bearer)
	item := fmt.Sprintf(`{"Item":{"id":{"S":%q},"digest":{"S":%q},"subject":{"S":"alice"},`+
		`"created_at":{"S":"2026-01-01T00:00:00Z"},"expires_at":{"N":"9999999999"}}}`, id, token.Digest(bearer))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // every request is a good one
		time.Sleep(latency)
		answer := "{}"
		if strings.HasSuffix(r.Header.Get("X-Amz-Target"), ".GetItem") {
			answer = item
		}
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(answer))))
		_, _ = io.WriteString(w, answer) // if the function has gone, its caller notices
	}))
	certificate := must(tls.LoadX509KeyPair("bin/bench/cert.pem", "bin/bench/key.pem"))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	server.StartTLS() // HTTP/1.1 alone, as DynamoDB
	return server
}

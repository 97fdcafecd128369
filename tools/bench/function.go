package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/token"
)

// function is a function that tools/bench/run has built, with the event that it gets.
type function struct {
	name        string // in the table and in the picture
	folder      string // of bin/bench
	environment []string
	event       []byte
	want        string // is in each answer
}

// newFunctions returns the functions to measure, the empty one first.
func newFunctions() []function {
	create := must(os.ReadFile("events/createplant/create.json"))
	authorize := must(os.ReadFile("events/authorizer/create.json"))
	// Ours have Amazon's roots embedded.
	ours := append(templateVariables(), "SSL_CERT_FILE=bin/bench/amazon.pem", "SSL_CERT_DIR=none")
	// Go reads both /etc/ssl/certs and /etc/pki/tls/certs. In Amazon Linux 2023 they are one directory.
	system := []string{"SSL_CERT_FILE=bin/bench/system/ca-bundle.crt", "SSL_CERT_DIR=bin/bench/system:bin/bench/system"}
	return []function{
		{name: "empty", folder: "empty", event: create, want: "200"},
		{name: "default way", folder: "baseline", environment: system, event: create, want: "Monstera"},
		{name: "createplant", folder: "createplant", environment: ours, event: create, want: "Monstera"},
		{name: "authorizer", folder: "authorizer", environment: ours, event: authorize, want: "allow"},
	}
}

// templateVariables returns the variables that template.yaml gives to every function.
func templateVariables() (variables []string) {
	var template struct {
		Globals struct {
			Function struct {
				Environment struct {
					Variables map[string]any `yaml:"Variables"`
				} `yaml:"Environment"`
			} `yaml:"Function"`
		} `yaml:"Globals"`
	}
	check(yaml.Unmarshal(must(os.ReadFile("template.yaml")), &template))
	for name, value := range template.Globals.Function.Environment.Variables {
		variables = append(variables, fmt.Sprint(name, "=", value))
	}
	return variables
}

// process is a running function, and the Lambda Runtime API that it gets its events from. Source:
// Lambda Developer Guide, "Using the Lambda runtime API".
type process struct {
	function
	*exec.Cmd
	started time.Time
	stop    func()
	events  chan []byte
	answers chan []byte
}

// start starts the function with DynamoDB at endpoint. If it ends before it is stopped, the benchmark
// ends too.
func (f function) start(endpoint string) *process {
	ctx, cancel := context.WithCancel(context.Background())
	p := &process{
		function: f,
		Cmd:      exec.CommandContext(ctx, filepath.Join("bin/bench", f.folder, "bootstrap")),
		events:   make(chan []byte),
		answers:  make(chan []byte),
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /2018-06-01/runtime/invocation/next", p.next)
	mux.HandleFunc("POST /2018-06-01/runtime/invocation/{id}/{outcome}", p.answered)
	api := httptest.NewServer(mux)
	var log bytes.Buffer
	p.Stdout, p.Stderr = &log, &log
	p.Env = append([]string{
		"AWS_LAMBDA_RUNTIME_API=" + strings.TrimPrefix(api.URL, "http://"),
		"PLANTS_TABLE=plants", "TOKENS_TABLE=tokens", "AWS_REGION=us-east-1",
		"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=" + strings.Repeat("t", 700),
	}, f.environment...)
	p.Env = append(p.Env, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint) // the last of two counts
	ended := make(chan struct{})
	p.stop = func() {
		cancel()
		<-ended
		api.Close()
	}
	p.started = time.Now()
	check(p.Start())
	go func() {
		_ = p.Wait() // its error is in ProcessState too
		if ctx.Err() == nil {
			check(fmt.Errorf("%s ended: %v, %s", f.folder, p.ProcessState, &log))
		}
		close(ended)
	}()
	return p
}

// next gives the function an event.
func (p *process) next(w http.ResponseWriter, r *http.Request) {
	select {
	case event := <-p.events:
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "8476a536-e9f4-11e8-9739-2dfe598c3fcd")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(10*time.Second).UnixMilli()))
		w.Header().Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:us-east-1:123456789012:function:f")
		_, _ = w.Write(event) // fails if the function has ended
	case <-r.Context().Done():
	}
}

// answered takes an answer, or the error of a function that failed.
func (p *process) answered(w http.ResponseWriter, r *http.Request) {
	p.answers <- must(io.ReadAll(r.Body))
	w.WriteHeader(http.StatusAccepted)
}

// cold returns the time from the start of the process until its first answer.
func (f function) cold(endpoint string) time.Duration {
	p := f.start(endpoint)
	defer p.stop()
	p.call()
	return time.Since(p.started)
}

// call invokes the function and returns how long it took to answer.
func (p *process) call() time.Duration {
	p.events <- p.event
	began := time.Now()
	answer := <-p.answers
	took := time.Since(began)
	if !bytes.Contains(answer, []byte(p.want)) {
		check(fmt.Errorf("%s answered %.200s, want %q in it", p.folder, answer, p.want))
	}
	return took
}

// cpuTime returns the CPU time of the process so far, as the scheduler counts it.
func (p *process) cpuTime() (total time.Duration) {
	for _, file := range must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Process.Pid))) {
		var onCPU time.Duration
		must(fmt.Sscan(string(must(os.ReadFile(file))), &onCPU))
		total += onCPU
	}
	return total
}

// standIn answers over TLS as DynamoDB does, after latency: each put succeeds, and
// the token of the sample events is there.
func standIn(latency time.Duration) *httptest.Server {
	bearer := string(regexp.MustCompile(`pst_\w+`).Find(must(os.ReadFile("events/authorizer/create.json"))))
	id, _ := token.ParseID(bearer)
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

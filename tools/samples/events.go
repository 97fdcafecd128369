package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing/fstest"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/token"
)

// sample is a sample event: a request, and the function that gets it.
type sample struct {
	function      string // as in template.yaml, without "Function"; in lower case, the folder of the event
	name          string // of the event's file
	request       string // method and path
	key           string // the Idempotency-Key, if there is one
	body          string
	stored        string // the plant that the store must have, as the body that creates it
	answer        string // as events/README.md states it
	authorization string // the header's value, which samples leaves out
}

// samples has the requests with the sample token. The first one of a function is the request of its token
// cases too.
var samples = []sample{
	{
		function: "CreatePlant", name: "create", request: "POST /plants", key: "sample",
		body:   `{"id":3,"name":"Monstera","tag":"indoor"}`,
		answer: "200 `" + `{"name":"Monstera","tag":"indoor"}` + "`",
	},
	{
		function: "CreatePlant", name: "malformed-body", request: "POST /plants",
		body:   `{"id":1,"name":"Monstera"`,
		answer: "400 error 1003",
	},
	{
		function: "CreatePlant", name: "duplicate", request: "POST /plants",
		body: `{"id":2,"name":"Fern"}`, stored: `{"id":2,"name":"Fern"}`,
		answer: "400 error 3001",
	},
	{
		function: authorizer, name: "create", request: "POST /plants",
		body:   `{"id":1,"name":"Monstera","tag":"indoor"}`,
		answer: "allow",
	},
}

const (
	authorizer = "Authorizer"
	sampleID   = "SampleToken0" // seed stores its token
)

var (
	sampleToken  = token.Seal(sampleID + "NotSecretInThisFolder000")
	unknownToken = token.Seal("UnknownToken" + "NotSecretInThisFolder000")
)

// tokenCases are the cases of authentication that each function refuses, by the authorizer's verdict.
var tokenCases = []struct{ name, authorization, verdict, answer string }{
	{name: "no-token", authorization: "", verdict: "deny missing", answer: "400 error 2001"},
	{name: "bad-token", authorization: "Bearer " + unknownToken, verdict: "deny invalid", answer: "400 error 2003"},
}

// allSamples returns samples and the token cases of each function.
func allSamples() []sample {
	var all []sample
	for i, s := range samples {
		s.authorization = "Bearer " + sampleToken
		all = append(all, s)
		if i > 0 && samples[i-1].function == s.function {
			continue
		}
		for _, c := range tokenCases {
			s.name, s.authorization, s.answer = c.name, c.authorization, c.answer
			if s.function == authorizer {
				s.answer = c.verdict
			}
			all = append(all, s)
		}
	}
	return all
}

// file returns the path of the event in events/.
func (s sample) file() string { return strings.ToLower(s.function) + "/" + s.name + ".json" }

// newRequest returns the request of a sample.
func (s sample) newRequest(ctx context.Context) *http.Request {
	method, path, _ := strings.Cut(s.request, " ")
	url := "https://local.execute-api.us-east-1.amazonaws.com" + path
	r := httptest.NewRequestWithContext(ctx, method, url, strings.NewReader(s.body))
	r.RemoteAddr = "203.0.113.7:443"
	r.Header.Set("Accept", "*/*")
	r.Header.Set("User-Agent", "curl/8.5.0")
	r.Header.Set("X-Amzn-Trace-Id", "Root=1-69a42e00-0123456789abcdef01234567")
	if s.authorization != "" {
		r.Header.Set("Authorization", s.authorization)
	}
	if s.key != "" {
		r.Header.Set("Idempotency-Key", s.key)
	}
	if s.body != "" {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Content-Length", strconv.Itoa(len(s.body)))
	}
	return r
}

// recorder is a function that keeps its last event.
type recorder struct {
	gateway.Function
	event []byte
}

// Invoke implements [gateway.Function].
func (r *recorder) Invoke(ctx context.Context, event []byte) ([]byte, error) {
	r.event = event
	return r.Function.Invoke(ctx, event)
}

// service is the service in process, behind a gateway. Its stores are in memory and have what the sample
// events need.
type service struct {
	gateway              *gateway.Gateway
	authorizer, function *recorder
}

func newService(ctx context.Context) (*service, error) {
	plants, tokens := new(memory.Plants), new(memory.Tokens)
	now := func() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }
	if err := seed(ctx, plants, tokens, now()); err != nil {
		return nil, err
	}
	log := slog.New(slog.DiscardHandler)
	verifier := token.Verifier{Store: tokens, Now: now}
	s := &service{
		authorizer: &recorder{Function: &api.Authorizer{Verify: verifier.Verify, Log: log, Now: now}},
		function:   &recorder{Function: &api.Service{Plants: plants, Log: log, Now: now, NewKey: rand.Text}},
	}
	s.gateway = gateway.New(gateway.Options{
		Routes:     api.Routes(),
		Authorizer: s.authorizer,
		Function:   s.function,
		Log:        log,
		Now:        now,
		NewID:      func() string { return "JKJaXmPLvHcESHA=" },
	})
	return s, nil
}

// of returns the function of a sample.
func (s *service) of(sample sample) *recorder {
	if sample.function == authorizer {
		return s.authorizer
	}
	return s.function
}

// event returns the event that the gateway sends for a sample, without what API Gateway leaves out: null,
// an empty object, and the certificate of a client that has none.
func (s *service) event(ctx context.Context, sample sample) ([]byte, error) {
	f := s.of(sample)
	f.event = nil
	s.gateway.ServeHTTP(httptest.NewRecorder(), sample.newRequest(ctx))
	if f.event == nil {
		return nil, fmt.Errorf("%s: internal/api has no route for %s", sample.file(), sample.request)
	}
	var event map[string]any
	if err := json.Unmarshal(f.event, &event); err != nil {
		return nil, err
	}
	maps.DeleteFunc(event, func(_ string, value any) bool {
		object, isObject := value.(map[string]any)
		return value == nil || isObject && len(object) == 0
	})
	delete(event["requestContext"].(map[string]any), "authentication")
	return json.MarshalIndent(event, "", "  ")
}

// writeEvents writes folder anew: the sample events, and in its README.md the table of their answers.
func writeEvents(ctx context.Context, folder string) error {
	readme, err := os.ReadFile(folder + "/README.md")
	if err != nil {
		return err
	}
	s, err := newService(ctx)
	if err != nil {
		return err
	}
	files := fstest.MapFS{}
	table := "| event | answer |\n|---|---|\n"
	for _, sample := range allSamples() {
		event, err := s.event(ctx, sample)
		if err != nil {
			return err
		}
		files[sample.file()] = &fstest.MapFile{Data: append(event, '\n'), Mode: 0o644}
		table += fmt.Sprintf("| `%s` | %s |\n", sample.file(), sample.answer)
	}
	before, rest, _ := strings.Cut(string(readme), "| event |")
	_, after, _ := strings.Cut(rest, "\n\n")
	files["README.md"] = &fstest.MapFile{Data: []byte(before + table + "\n" + after), Mode: 0o644}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	return os.CopyFS(folder, files)
}

// Package commands runs the programs themselves, as Lambda and people do.
package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/tokens"
)

const sampleToken = "pst_SAMPLETOKENFORSAMLOCALONLY" // as in tools/sample and events

var programs string // the folder that has them

func TestMain(m *testing.M) {
	var err error
	if programs, err = os.MkdirTemp("", "plant-store-"); err != nil {
		panic(err)
	}
	build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", programs+"/", "plantstore/cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		panic(string(out))
	}
	status := m.Run()
	_ = os.RemoveAll(programs) // it is temporary
	os.Exit(status)
}

// program returns a command with the environment that Lambda sets. Lambda sets the log format because template.yaml asks for
// JSON.
func program(t *testing.T, name string, variables ...string) *exec.Cmd {
	command := exec.CommandContext(t.Context(), filepath.Join(programs, name))
	command.Env = []string{
		"AWS_LAMBDA_LOG_FORMAT=JSON", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=id",
		"AWS_SECRET_ACCESS_KEY=secret", "HOME=" + os.Getenv("HOME"),
	}
	command.Env = append(command.Env, variables...)
	return command
}

// invoke runs a function with one event, behind a stand-in for Lambda's Runtime API, and returns its answer and its log.
func invoke(t *testing.T, function, event string, variables ...string) (answer, log string) {
	t.Helper()
	answers, next := make(chan string, 1), make(chan string, 1)
	next <- event
	runtime := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			body, _ := io.ReadAll(r.Body) // half an answer is a wrong one
			answers <- string(body)
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "lambda-1")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(time.Minute).UnixMilli()))
		select {
		case event := <-next:
			fmt.Fprint(w, event)
		case <-r.Context().Done():
		}
	}))
	defer runtime.Close()
	var printed strings.Builder
	command := program(t, function, append(variables, "AWS_LAMBDA_RUNTIME_API="+runtime.Listener.Addr().String())...)
	command.Stdout, command.Stderr = &printed, &printed
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // the function is killed
		close(ended)
	}()
	select {
	case answer = <-answers:
		_ = command.Process.Kill() // it fails only if the function has ended
		<-ended
	case <-ended:
		t.Errorf("the function ends, and logs %s", &printed)
	}
	return answer, printed.String()
}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// Each event gets its answer from the function, and at most one line in its log, which the right alarm counts. The function
// connects to DynamoDB before the event, and uses the table that the environment names.
func TestFunctions(t *testing.T) {
	digest := tokens.Digest(sampleToken)
	fake := dynamotest.Fake{Items: map[string]string{
		"tokens/" + digest: `{"digest":{"S":"` + digest + `"},"subject":{"S":"alice"},"expires_at":{"N":"99999999999"}}`,
	}}
	for _, test := range []struct{ function, event, want, wantLog, alarm, wantRequests string }{
		{
			function: "createplant", event: read(t, "events/create.json"), want: `"body":"{\"name\":\"Fern\",\"tag\":\"indoor\"}"`,
			wantLog: `"message": "error":0 "subject":"alice" "requestId":"lambda-1"`, wantRequests: ",PutItem",
		},
		{
			function: "createplant", event: read(t, "events/conflict.json"), want: `"body":"{\"error\":409,`,
			wantLog: `"error":409,`, wantRequests: ",PutItem",
		},
		{function: "createplant", event: read(t, "events/create-invalid.json"), want: `"body":"{\"error\":400,`, wantLog: `"error":400,`},
		{function: "createplant", event: read(t, "events/create-unauthorized.json"), want: `"body":"{\"error\":401,`, wantLog: `"error":401,`},
		{function: "createplant", event: "{}", want: `"body":"{\"error\":500,`, wantLog: `"error":500,`, alarm: "Errors"},
		{
			function: "createplant", event: strings.Replace(read(t, "events/create.json"), `"code": 0`, `"code": 503`, 1),
			want: `"body":"{\"error\":503,`, wantLog: `"error":503,`, alarm: "Unavailable",
		},
		{function: "authorizer", event: read(t, "events/authorize.json"), want: `{"isAuthorized":true,"context":{"code":0,`, wantRequests: ",GetItem"},
	} {
		fake.Requests = nil
		var connections atomic.Int32
		database := httptest.NewUnstartedServer(&fake)
		database.Config.ConnState = func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				connections.Add(1)
			}
		}
		database.Start()
		answer, log := invoke(t, test.function, test.event,
			"PLANTS_TABLE=plants", "TOKENS_TABLE=tokens", "AWS_ENDPOINT_URL_DYNAMODB="+database.URL)
		database.Close()
		if !strings.Contains(answer, test.want) {
			t.Errorf("the answer is %s, want %s in it", answer, test.want)
		}
		for want := range strings.FieldsSeq(test.wantLog) {
			if !strings.Contains(log, want) || strings.Count(log, "\n") != 1 {
				t.Errorf("the log is %s, want one line with %s", log, want)
			}
		}
		if (log == "") != (test.wantLog == "") || alarm(t, log) != test.alarm {
			t.Errorf("%q counts the log %s, want %q", alarm(t, log), log, test.alarm)
		}
		if got := strings.Join(fake.Requests, ","); got != test.wantRequests || connections.Load() != 1 {
			t.Errorf("DynamoDB gets %q through %d connections, want %q through one", got, connections.Load(), test.wantRequests)
		}
	}
	if stored := fake.Items["plants/1"]; !strings.Contains(stored, "Fern") || !strings.Contains(stored, `"created_by":{"S":"alice"}`) {
		t.Errorf("the table has %s", stored)
	}
}

// A function that cannot start says why, and an alarm counts it.
func TestStart(t *testing.T) {
	for function, variable := range map[string]string{"createplant": "PLANTS_TABLE", "authorizer": "TOKENS_TABLE"} {
		log, err := program(t, function).CombinedOutput()
		if err == nil || !strings.Contains(string(log), variable+" is not set") || alarm(t, string(log)) != "Errors" {
			t.Errorf("%s ends with %v, and logs %s", function, err, log)
		}
	}
}

// alarm returns the metrics that count a line. The patterns are those of template.yaml, each beside what it means.
func alarm(t *testing.T, log string) (metrics string) {
	t.Helper()
	var line map[string]any
	if err := json.Unmarshal([]byte(log), &line); log != "" && err != nil {
		t.Fatalf("the log is no line of JSON: %s", log)
	}
	var template struct {
		Resources map[string]struct {
			Properties map[string]any `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "template.yaml")), &template); err != nil {
		t.Fatal(err)
	}
	for _, filter := range []struct {
		metric, pattern string
		counts          bool
	}{
		{
			metric: "Errors", pattern: `{ $.level = "ERROR" && ($.error NOT EXISTS || $.error != 503) }`,
			counts: line["level"] == "ERROR" && line["error"] != 503.0,
		},
		{metric: "Unavailable", pattern: `{ $.error = 503 }`, counts: line["error"] == 503.0},
	} {
		if got := template.Resources[filter.metric].Properties["FilterPattern"]; got != filter.pattern {
			t.Errorf("the filter %s has the pattern %s, want %s", filter.metric, got, filter.pattern)
		}
		if filter.counts {
			metrics += filter.metric
		}
	}
	return metrics
}

// Under sam local, a function uses DynamoDB Local with credentials of its own: never AWS, and not the developer's.
func TestSAMLocal(t *testing.T) {
	for _, variable := range []string{"HTTP_PROXY", "AWS_ENDPOINT_URL"} { // the proxy gets what is for host.docker.internal
		var got string
		database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got += r.RequestURI + " " + r.Header.Get("Authorization") + "\n"
			fmt.Fprint(w, "{}")
		}))
		answer, _ := invoke(t, "createplant", read(t, "events/create.json"), "PLANTS_TABLE=plants", "AWS_SAM_LOCAL=true", variable+"="+database.URL)
		database.Close()
		isDefault := strings.Contains(got, "http://host.docker.internal:8000/")
		if !strings.Contains(answer, `"statusCode":200`) || isDefault != (variable == "HTTP_PROXY") || strings.Contains(got, "Credential=id/") {
			t.Errorf("with %s, the answer is %s, and these are the requests:\n%s", variable, answer, got)
		}
	}
}

// Package commands runs the programs themselves, as Lambda and people do.
package commands

import (
	"encoding/json"
	"fmt"
	"io"
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

	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/tokens"
)

const sampleToken = "pst_SAMPLETOKENFORSAMLOCALONLY" // as in tools/local and events

var programs string // the folder that has them

func TestMain(m *testing.M) {
	os.Exit(func() int {
		folder, err := os.MkdirTemp("", "")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(folder) //nolint:errcheck // it is temporary
		programs = folder
		build := exec.Command("go", "build", "-tags", "lambda.norpc", "-o", programs+"/", "plantstore/cmd/...")
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			panic(err)
		}
		return m.Run()
	}())
}

// environment has what Lambda sets. Lambda sets the log format because template.yaml asks for JSON.
func environment(variables ...string) []string {
	return append(variables, "AWS_LAMBDA_LOG_FORMAT=JSON", "AWS_REGION=us-east-1", "AWS_ACCESS_KEY_ID=id",
		"AWS_SECRET_ACCESS_KEY=secret", "PATH="+os.Getenv("PATH"), "HOME="+os.Getenv("HOME"))
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
			_, _ = io.WriteString(w, event) // if this fails, there is no answer
		case <-r.Context().Done():
		}
	}))
	defer runtime.Close()
	var printed strings.Builder
	command := exec.CommandContext(t.Context(), filepath.Join(programs, function))
	command.Env = environment(append(variables, "AWS_LAMBDA_RUNTIME_API="+runtime.Listener.Addr().String())...)
	command.Stdout, command.Stderr = &printed, &printed
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case answer = <-answers:
	case <-time.After(20 * time.Second):
		t.Error("there is no answer")
	}
	_ = command.Process.Kill() // it fails only if the function has ended
	_ = command.Wait()         // it was killed
	return answer, printed.String()
}

// Each sample event gets its answer from the function, whose table the environment names. The function connects to DynamoDB
// before the event, and logs what the alarm counts.
func TestSampleEvents(t *testing.T) {
	for _, test := range []struct {
		event, function string
		want            []string // in the answer
		wantLog         []string
		wantRequests    []string
	}{
		{
			event: "create", function: "createplant", want: []string{`"statusCode":200`, `{\"name\":\"Fern\",\"tag\":\"indoor\"}`},
			wantLog:      []string{`"level":"INFO"`, `"message":"stored"`, `"subject":"alice"`, `"requestId":"lambda-1"`},
			wantRequests: []string{"", "PutItem"},
		},
		{
			event: "create-invalid", function: "createplant", want: []string{`"statusCode":400`, `{\"error\":400,`, "id"},
			wantLog: []string{`"level":"INFO"`, `"error":400`}, wantRequests: []string{""},
		},
		{
			event: "create-unauthorized", function: "createplant", want: []string{`"statusCode":400`, `{\"error\":401,`},
			wantLog: []string{`"level":"INFO"`, `"error":401`}, wantRequests: []string{""},
		},
		{
			event: "authorize", function: "authorizer", want: []string{`"isAuthorized":true`, `"error":0`, `"subject":"alice"`},
			wantRequests: []string{"", "GetItem"},
		},
	} {
		t.Run(test.event, func(t *testing.T) {
			fake := dynamotest.Fake{Items: map[string]string{"its-table/" + tokens.Digest(sampleToken): fmt.Sprintf(
				`{"digest":{"S":%q},"subject":{"S":"alice"},"expires_at":{"N":"99999999999"}}`, tokens.Digest(sampleToken))}}
			database := httptest.NewServer(&fake)
			event, err := os.ReadFile("../../events/" + test.event + ".json")
			if err != nil {
				t.Fatal(err)
			}
			variable := map[string]string{"createplant": "PLANTS_TABLE", "authorizer": "TOKENS_TABLE"}[test.function]
			answer, log := invoke(t, test.function, string(event), variable+"=its-table", "AWS_ENDPOINT_URL_DYNAMODB="+database.URL)
			database.Close()
			for _, want := range test.want {
				if !strings.Contains(answer, want) {
					t.Errorf("the answer is %s, want %s in it", answer, want)
				}
			}
			for _, want := range test.wantLog {
				if !strings.Contains(log, want) {
					t.Errorf("the log is %s, want %s in it", log, want)
				}
			}
			if !slices.Equal(fake.Requests, test.wantRequests) {
				t.Errorf("DynamoDB gets %q, want %q", fake.Requests, test.wantRequests)
			}
			if stored := fake.Items["its-table/1"]; (stored != "") != (test.event == "create") {
				t.Errorf("the table has %s", stored)
			}
		})
	}
	if files, err := filepath.Glob("../../events/*"); err != nil || len(files) != 4 {
		t.Errorf("there are the events %v, %v: test each", files, err)
	}
}

// A missing verdict, and a function that cannot start, are lines that the alarm's filter counts.
func TestAlarm(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	filter := regexp.MustCompile(`FilterPattern: '{ \$\.(\w+) = "(\w+)" }'`).FindSubmatch(template)
	if filter == nil {
		t.Fatal("template.yaml has no filter that this test understands")
	}
	counted := func(log string) bool {
		var line map[string]any
		err := json.Unmarshal([]byte(log), &line)
		return err == nil && line[string(filter[1])] == string(filter[2])
	}
	if answer, log := invoke(t, "createplant", "{}", "PLANTS_TABLE=plants", "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1"); !counted(log) {
		t.Errorf("without a verdict, the answer is %s, and the alarm does not see the log %s", answer, log)
	}
	for _, function := range []string{"createplant", "authorizer"} {
		command := exec.CommandContext(t.Context(), filepath.Join(programs, function))
		command.Env = environment()
		log, err := command.CombinedOutput()
		if err == nil || !counted(string(log)) || !strings.Contains(string(log), "_TABLE is not set") {
			t.Errorf("without its variable, %s ends with %v, and logs %s", function, err, log)
		}
	}
}

// Under sam local, a function uses DynamoDB Local with credentials of its own: never AWS, and not the developer's.
func TestSAMLocal(t *testing.T) {
	event, err := os.ReadFile("../../events/create.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, variable := range []string{"HTTP_PROXY", "AWS_ENDPOINT_URL"} { // the proxy gets what is for host.docker.internal
		var got string
		database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got += r.RequestURI + " " + r.Header.Get("Authorization") + "\n"
			_, _ = io.WriteString(w, "{}") // if this fails, there is no answer
		}))
		answer, _ := invoke(t, "createplant", string(event), "PLANTS_TABLE=plants", "AWS_SAM_LOCAL=true", variable+"="+database.URL)
		database.Close()
		isDefault := strings.Contains(got, "http://host.docker.internal:8000/")
		if !strings.Contains(answer, `"statusCode":200`) || isDefault != (variable == "HTTP_PROXY") || strings.Contains(got, "Credential=id/") {
			t.Errorf("with %s, the answer is %s, and these are the requests:\n%s", variable, answer, got)
		}
	}
}

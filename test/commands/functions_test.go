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
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

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

// Each sample event gets its answer from the function, whose table the environment names. The function connects to DynamoDB
// before the event.
func TestSampleEvents(t *testing.T) {
	for event, test := range map[string]struct{ function, variable, want, wantLog, wantRequests string }{
		"create": {
			function: "createplant", variable: "PLANTS_TABLE", want: `"body":"{\"name\":\"Fern\",\"tag\":\"indoor\"}"`,
			wantLog: `"message":"stored" "error":0 "subject":"alice" "requestId":"lambda-1"`, wantRequests: ",PutItem",
		},
		"create-invalid": {
			function: "createplant", variable: "PLANTS_TABLE", want: `"body":"{\"error\":400,`, wantLog: `"error":400,`,
		},
		"create-unauthorized": {
			function: "createplant", variable: "PLANTS_TABLE", want: `"body":"{\"error\":401,`, wantLog: `"error":401,`,
		},
		"authorize": {
			function: "authorizer", variable: "TOKENS_TABLE", want: `{"isAuthorized":true,"context":{"error":0,`, wantRequests: ",GetItem",
		},
	} {
		t.Run(event, func(t *testing.T) {
			fake := dynamotest.Fake{Items: map[string]string{"its-table/" + tokens.Digest(sampleToken): fmt.Sprintf(
				`{"digest":{"S":%q},"subject":{"S":"alice"},"expires_at":{"N":"99999999999"}}`, tokens.Digest(sampleToken))}}
			var connections atomic.Int32
			database := httptest.NewUnstartedServer(&fake)
			database.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateNew {
					connections.Add(1)
				}
			}
			database.Start()
			answer, log := invoke(t, test.function, read(t, "events/"+event+".json"),
				test.variable+"=its-table", "AWS_ENDPOINT_URL_DYNAMODB="+database.URL)
			database.Close()
			if !strings.Contains(answer, test.want) {
				t.Errorf("the answer is %s, want %s in it", answer, test.want)
			}
			for want := range strings.FieldsSeq(test.wantLog) {
				if !strings.Contains(log, want) {
					t.Errorf("the log is %s, want %s in it", log, want)
				}
			}
			if got := strings.Join(fake.Requests, ","); got != test.wantRequests || connections.Load() != 1 {
				t.Errorf("DynamoDB gets %q through %d connections, want %q through one", got, connections.Load(), test.wantRequests)
			}
			stored := fake.Items["its-table/1"]
			if (stored != "") != (event == "create") || strings.Contains(stored, `"created_by":{"S":"alice"}`) != (event == "create") {
				t.Errorf("the table has %s", stored)
			}
		})
	}
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

// A missing verdict, and a function that cannot start, are lines that the alarm's filter counts.
func TestAlarm(t *testing.T) {
	filter := regexp.MustCompile(`FilterPattern: '{ \$\.(\w+) = "(\w+)" }'`).FindStringSubmatch(read(t, "template.yaml"))
	if filter == nil {
		t.Fatal("template.yaml has no filter that this test understands")
	}
	counted := func(log string) bool {
		var line map[string]any
		err := json.Unmarshal([]byte(log), &line)
		return err == nil && line[filter[1]] == filter[2]
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
	for _, variable := range []string{"HTTP_PROXY", "AWS_ENDPOINT_URL"} { // the proxy gets what is for host.docker.internal
		var got string
		database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got += r.RequestURI + " " + r.Header.Get("Authorization") + "\n"
			_, _ = io.WriteString(w, "{}") // if this fails, there is no answer
		}))
		answer, _ := invoke(t, "createplant", read(t, "events/create.json"), "PLANTS_TABLE=plants", "AWS_SAM_LOCAL=true", variable+"="+database.URL)
		database.Close()
		isDefault := strings.Contains(got, "http://host.docker.internal:8000/")
		if !strings.Contains(answer, `"statusCode":200`) || isDefault != (variable == "HTTP_PROXY") || strings.Contains(got, "Credential=id/") {
			t.Errorf("with %s, the answer is %s, and these are the requests:\n%s", variable, answer, got)
		}
	}
}

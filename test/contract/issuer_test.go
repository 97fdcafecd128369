package contract

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// An issuer that is away: whether its token is valid, nobody can tell. A service without an issuer
// refuses the token.
const awayIssuer = "http://127.0.0.1:1"

var awayVariables = []string{"TOKEN_ISSUER=" + awayIssuer, "TOKEN_AUDIENCE=plants"}

// awayToken returns a JWT access token that only its signature can show to be false.
func awayToken() string {
	encode := base64.RawURLEncoding.EncodeToString
	claims := fmt.Sprintf(`{"iss":%q,"aud":"plants","sub":"ann","exp":%d}`, awayIssuer, time.Now().Add(time.Hour).Unix())
	return encode([]byte(`{"alg":"RS256","typ":"at+jwt","kid":"k1"}`)) + "." + encode([]byte(claims)) + "." + encode(make([]byte, 256))
}

// `plantstore serve` asks the issuer in its environment about a JWT. internal/jwt tests the answer.
func TestServeAsksIssuer(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), append(processtest.InMemory(), awayVariables...)...)
	got := target{url: server.URL}.send(t, post(noPlant).with("Authorization", "Bearer "+awayToken()))
	if !strings.Contains(string(got.body), `"error":5003`) {
		t.Errorf("answer = %s, want the error 5003", got)
	}
}

// The built authorizer does the same.
func TestAuthorizerAsksIssuer(t *testing.T) {
	t.Parallel()
	answers := make(chan string, 1)
	runtime := http.NewServeMux() // the Lambda Runtime API, with one event
	runtime.HandleFunc("GET /2018-06-01/runtime/invocation/next", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Lambda-Runtime-Aws-Request-Id", "r1")
		w.Header().Set("Lambda-Runtime-Deadline-Ms", fmt.Sprint(time.Now().Add(10*time.Second).UnixMilli()))
		fmt.Fprintf(w, `{"headers":{"authorization":"Bearer %s"}}`, awayToken())
	})
	runtime.HandleFunc("POST /2018-06-01/runtime/invocation/r1/response", func(_ http.ResponseWriter, r *http.Request) {
		answer, _ := io.ReadAll(r.Body) // what is missing, the check below notices
		answers <- string(answer)
		<-r.Context().Done() // so the function asks for no other event
	})
	api := httptest.NewServer(runtime)
	defer api.Close()
	function := exec.CommandContext(t.Context(), processtest.Build(t, "cmd/authorizer"))
	function.Env = append(processtest.Environment("http://127.0.0.1:1", "TOKENS_TABLE=tokens"), awayVariables...)
	function.Env = append(function.Env, "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(api.URL, "http://"))
	if err := function.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = function.Process.Kill() // it waits
		_ = function.Wait()         // the signal is its error
	}()
	select {
	case got := <-answers:
		if !strings.Contains(got, `"verdict":"unavailable"`) {
			t.Errorf("the authorizer answers %s, want the verdict unavailable", got)
		}
	case <-time.After(10 * time.Second):
		t.Error("the authorizer does not answer")
	}
}

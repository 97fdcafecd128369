package deployment

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"plantstore/test/processtest"
)

// userConfig is the configuration of a user with an AWS account, in which everything leads to another
// server.
func userConfig(outside string) string {
	return `[default]
region = eu-central-1
endpoint_url = ` + outside + `
[profile user]
region = eu-central-1
aws_access_key_id = AKIAUSER
aws_secret_access_key = secret
services = user
[services user]
cloudformation =
  endpoint_url = ` + outside + `
`
}

// userVariables are the variables of that user.
func userVariables(outside string) []string {
	return []string{
		"AWS_ACCESS_KEY_ID=AKIAUSER", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=AKIAUSER", "AWS_PROFILE=user",
		"AWS_REGION=eu-central-1", "AWS_DEFAULT_REGION=eu-central-1", "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true",
		"AWS_ENDPOINT_URL=" + outside, "AWS_ENDPOINT_URL_CLOUDFORMATION=" + outside, "AWS_ENDPOINT_URL_S3=" + outside,
		"HTTP_PROXY=" + outside, "HTTPS_PROXY=" + outside, "http_proxy=" + outside, "https_proxy=" + outside,
	}
}

// A witness is a server that refuses each request, and remembers it.
type witness struct {
	*httptest.Server
	mutex    sync.Mutex
	requests []string
}

func newWitness(t *testing.T) *witness {
	t.Helper()
	w := new(witness)
	w.Server = httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		w.mutex.Lock()
		w.requests = append(w.requests, r.Method+" "+r.Host+r.URL.Path+" "+r.Header.Get("Authorization")+r.Header.Get("X-Amz-Security-Token"))
		w.mutex.Unlock()
		answer.WriteHeader(http.StatusBadRequest)
	}))
	t.Cleanup(w.Close)
	return w
}

// TestIsolation checks that what is meant for the local AWS reaches nothing else and shows it no
// credentials of the user, whatever the user's settings are, and that samconfig.toml's environment
// local deploys nowhere without tools/local/aws.
func TestIsolation(t *testing.T) {
	needs(t, "sam")
	local, err := filepath.Abs("tools/local/aws")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	for _, file := range []string{"template.yaml", "samconfig.toml", "environments.yaml"} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, file), string(content))
	}
	write(t, filepath.Join(folder, ".aws-sam/build/parameters.yaml"), "Shift: gradual")
	cache, err := os.UserCacheDir() // the programs are there, whatever HOME is
	if err != nil {
		t.Fatal(err)
	}
	sam := []string{"sam", "deploy", "--config-env", "local"}
	plantstore := []string{processtest.Build(t, "cmd/plantstore"), "token", "list", "--stack", "plant-store-local"}
	for _, test := range []struct {
		name    string
		command []string // PORT is that of a local AWS, and OUTSIDE the address of another server
		calls   bool     // the local AWS
		want    string
	}{
		{"sam deploy calls the local AWS alone", append([]string{local, "--port", "PORT"}, sam...), true, "Error"},
		{"plantstore calls the local AWS alone", append([]string{local, "--port", "PORT"}, plantstore...), true, "UnknownError"},
		{"without tools/local/aws, the environment local calls nothing", sam, false, "plant-store-local"},
		{"a port that leads elsewhere is refused", append([]string{local, "--port", "80@OUTSIDE"}, plantstore...), false, "PORT must be a number"},
		{"a port that is in use is refused", []string{local, "--port", "PORT"}, false, "is in use"},
		{"a command needs a local AWS", []string{local, "--port", "1", "true"}, false, "type make aws PORT=1 in another terminal"},
	} {
		t.Run(test.name, func(t *testing.T) {
			outside, inside := newWitness(t), newWitness(t)
			_, port, _ := strings.Cut(inside.Listener.Addr().String(), ":")
			meant := strings.NewReplacer("PORT", port, "OUTSIDE", outside.Listener.Addr().String())
			var arguments []string
			for _, argument := range test.command {
				arguments = append(arguments, meant.Replace(argument))
			}
			write(t, filepath.Join(folder, ".aws/config"), userConfig(outside.URL))
			command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
			command.Dir = folder
			command.Env = append(os.Environ(), userVariables(outside.URL)...)
			command.Env = append(command.Env, "HOME="+folder, "XDG_CACHE_HOME="+cache, "SAM_CLI_TELEMETRY=0")
			output, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(output), test.want) {
				t.Errorf("%v = %v, %s, want it to fail with %q", arguments, err, output, test.want)
			}
			if len(outside.requests) > 0 {
				t.Errorf("%v calls another server with %q; it prints %s", arguments, outside.requests, output)
			}
			if called := len(inside.requests) > 0; called != test.calls {
				t.Errorf("%v calls the local AWS = %t, want %t; it prints %s", arguments, called, test.calls, output)
			}
			if shown := strings.Join(inside.requests, "\n"); strings.Contains(shown, "AKIAUSER") {
				t.Errorf("%v shows the local AWS the user's credentials: %s", arguments, shown)
			}
		})
	}
}

// write writes a file in a folder that may not exist yet.
func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

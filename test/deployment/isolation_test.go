package deployment

import (
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"plantstore/test/processtest"
)

// userConfig is the configuration of a user with an AWS account, in which everything leads to OUTSIDE,
// another server.
const userConfig = `[default]
region = eu-central-1
endpoint_url = OUTSIDE
[profile user]
region = eu-central-1
aws_access_key_id = AKIAUSER
aws_secret_access_key = secret
services = user
[services user]
cloudformation =
  endpoint_url = OUTSIDE
`

// userCredentials are of a user who has a profile of the name of ours.
const userCredentials = `[plant-store-local]
aws_access_key_id = AKIAUSER
aws_secret_access_key = secret
`

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
	folder := processtest.Repository(t)
	if err := os.CopyFS(folder, fstest.MapFS{".aws-sam/build/parameters.yaml": {Data: []byte("Shift: gradual")}}); err != nil {
		t.Fatal(err)
	}
	cache, err := os.UserCacheDir() // the programs are there, whatever HOME is
	if err != nil {
		t.Fatal(err)
	}
	plantstore := processtest.Build(t, "cmd/plantstore")
	tests := []struct {
		name    string
		command string // PORT is that of a local AWS, and OUTSIDE the address of another server
		calls   bool   // the local AWS
		want    string
	}{
		{
			name:    "sam deploy calls the local AWS alone",
			command: "tools/local/aws --port PORT sam deploy --config-env local", calls: true, want: "Error",
		},
		{
			name:    "plantstore calls the local AWS alone",
			command: "tools/local/aws --port PORT " + plantstore + " token list --stack plant-store-local", calls: true, want: "UnknownError",
		},
		{
			name:    "without tools/local/aws, the environment local calls nothing",
			command: "sam deploy --config-env local", calls: false, want: "plant-store-local",
		},
		{
			name:    "a port that leads elsewhere is refused",
			command: "tools/local/aws --port 80@OUTSIDE true", calls: false, want: "PORT must be a number",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			outside, inside := newWitness(t), newWitness(t)
			_, port, _ := strings.Cut(inside.Listener.Addr().String(), ":")
			line := strings.NewReplacer("PORT", port, "OUTSIDE", outside.Listener.Addr().String()).Replace(test.command)
			home := t.TempDir()
			config := strings.ReplaceAll(userConfig, "OUTSIDE", outside.URL)
			files := fstest.MapFS{".aws/config": {Data: []byte(config)}}
			if test.calls { // otherwise the profile must be missing, as for most users
				files[".aws/credentials"] = &fstest.MapFile{Data: []byte(userCredentials)}
			}
			if err := os.CopyFS(home, files); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), "sh", "-c", line)
			command.Dir = folder
			command.Env = append(os.Environ(), userVariables(outside.URL)...)
			command.Env = append(command.Env, "HOME="+home, "XDG_CACHE_HOME="+cache, "SAM_CLI_TELEMETRY=0")
			output, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(output), test.want) {
				t.Errorf("%s = %v, %s, want it to fail with %q", line, err, output, test.want)
			}
			if len(outside.requests) > 0 {
				t.Errorf("%s calls another server with %q; it prints %s", line, outside.requests, output)
			}
			if called := len(inside.requests) > 0; called != test.calls {
				t.Errorf("%s calls the local AWS = %t, want %t; it prints %s", line, called, test.calls, output)
			}
			if shown := strings.Join(inside.requests, "\n"); strings.Contains(shown, "AKIAUSER") {
				t.Errorf("%s shows the local AWS the user's credentials: %s", line, shown)
			}
		})
	}
}

// TestServer checks that other users and machines can neither reach the local AWS nor enter its folder, and that it
// gets nothing of the user's account.
func TestServer(t *testing.T) {
	needs(t)
	local := start(t)
	// The system gives all addresses from 127.0.0.1 to 127.255.255.254 to this machine.
	connection, err := net.Dial("tcp", "127.0.0.2:"+local.port) //nolint:noctx // nothing answers
	if err == nil {
		t.Errorf("the local AWS listens on %s too", connection.RemoteAddr())
	}
	environment, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", local.process))
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"AKIAUSER", "user.example"} {
		if strings.Contains(string(environment), value) {
			t.Errorf("the local AWS has a variable with the user's %s", value)
		}
	}
	files, err := os.ReadDir(local.temporary)
	if err != nil || len(files) != 1 {
		t.Fatalf("it has the files %v, %v, want them in one folder", files, err)
	}
	info, err := files[0].Info()
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode(); mode != os.ModeDir|0o700 {
		t.Errorf("its folder has the mode %v, want one that the user alone may enter", mode)
	}
}

// TestPages checks that a web page in a browser of this machine reaches the deployed APIs of the local
// AWS and nothing else, because its functions run as processes of this machine.
func TestPages(t *testing.T) {
	needs(t)
	local := start(t)
	const (
		health  = "/_ministack/health"
		api     = "/_aws/execute-api/0123abcd/plants"
		refused = "The local AWS refuses web pages and foreign hosts."
	)
	page := http.Header{"Origin": {"https://evil.example"}}
	typed := http.Header{"Sec-Fetch-Site": {"none"}}
	tests := []struct {
		name   string
		path   string
		host   string
		header http.Header
		want   string
	}{
		{name: "a program gets an answer", path: health, host: "localhost:" + local.port, want: `"services"`},
		{name: "a page that sends a form is refused", path: "/2015-03-31/functions", host: "127.0.0.1", header: page, want: refused},
		{name: "a typed address, which may be redirected here, is refused", path: health, host: "127.0.0.1", header: typed, want: refused},
		{name: "a page reaches an API", path: api, host: "127.0.0.1", header: page, want: `"Not Found"`},
		{name: "a path that only begins like an API's is refused", path: "/_aws/execute-api/x", host: "127.0.0.1", header: page, want: refused},
		{name: "so is a path without an API", path: "/_aws/execute-api//2015-03-31/functions", host: "127.0.0.1", header: page, want: refused},
		{name: "a name that leads here by DNS rebinding is refused", path: api, host: "evil.example", want: refused},
		{name: "so is one that begins like this machine's", path: api, host: "localhost.evil.example", want: refused},
		{name: "a name below localhost is refused", path: "/plants", host: "0123abcd.execute-api.localhost", want: refused},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			header := http.Header{"Host": {test.host}}
			maps.Copy(header, test.header)
			_, body := processtest.Post(t, "http://127.0.0.1:"+local.port+test.path, header)
			if !strings.Contains(body, test.want) {
				t.Errorf("POST %s with %v = %s, want %s", test.path, header, body, test.want)
			}
		})
	}
}

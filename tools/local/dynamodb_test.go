// Package local tests tools/local/dynamodb with stand-ins for the programs that it calls.
package local

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"plantstore/test/processtest"
)

// standIns are programs. java writes the number of its process to a file, and serves its folder.
var standIns = fstest.MapFS{
	"path/npm":    {Mode: 0o700, Data: []byte("#!/bin/sh\nmkdir -p package/lib/x && tar czf package.tgz package && rm -r package\n")},
	"path/node":   {Mode: 0o700, Data: []byte("#!/bin/sh\necho $CHECKSUM\n")},
	"path/docker": {Mode: 0o700, Data: []byte("#!/bin/sh\nexit 1\n")},
	"path/java": {Mode: 0o700, Data: []byte(`#!/bin/sh
if [ "$1" = -version ]; then echo 'openjdk version "17.0.1"'; exit; fi
case $* in *-inMemory*) ;; *) exit 1 ;; esac
while [ "$1" != -port ]; do shift; done
echo $$ >"$STARTED"
exec python3 -m http.server --bind 127.0.0.1 "$2"
`)},
}

// After each command, no DynamoDB Local runs.
func TestDynamoDB(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil {
		processtest.SkipWithout(t, "Python")
	}
	script, err := filepath.Abs("dynamodb")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(script)
	if err != nil {
		t.Fatal(err)
	}
	checksum := regexp.MustCompile(`npm_sha256=(\w+)`).FindStringSubmatch(string(text))[1]
	used := httptest.NewServer(nil)
	t.Cleanup(used.Close)
	_, port, _ := strings.Cut(used.Listener.Addr().String(), ":")
	tests := []struct {
		name        string
		options     []string
		command     string // of the shell
		environment string
		status      int
		prints      string
	}{
		{
			name:    "a port that is in use is refused",
			options: []string{"--port", port}, command: "echo runs", status: 1, prints: "port " + port + " is in use",
		},
		{
			name:    "a download with another checksum is not run",
			command: "echo endpoint=$AWS_ENDPOINT_URL_DYNAMODB", environment: "CHECKSUM=0",
			prints: "endpoint=\nDynamoDB Local could not be started: the checksum",
		},
		{
			name:    "Ctrl-C stops it",
			command: "echo endpoint=$AWS_ENDPOINT_URL_DYNAMODB; kill -INT 0; exec sleep 60", status: 130, prints: "endpoint=http://127.0.0.1:",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			if err := os.CopyFS(folder, standIns); err != nil {
				t.Fatal(err)
			}
			started := filepath.Join(folder, "started")
			command := exec.CommandContext(t.Context(), script, append(test.options, "sh", "-c", test.command)...)
			command.Env = append(os.Environ(), "PATH="+filepath.Join(folder, "path")+":"+os.Getenv("PATH"), "STARTED="+started,
				"XDG_CACHE_HOME="+folder, "CHECKSUM="+checksum, "AWS_ENDPOINT_URL_DYNAMODB=", test.environment)
			command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // `kill 0` ends this group
			output, _ := command.CombinedOutput()                     // the status says whether it failed
			if status := command.ProcessState.ExitCode(); status != test.status || !strings.Contains(string(output), test.prints) {
				t.Errorf("it ends with %d and prints %s, want %d and %s", status, output, test.status, test.prints)
			}
			if id, err := os.ReadFile(started); err == nil {
				process, _ := strconv.Atoi(strings.TrimSpace(string(id))) // the stand-in wrote it
				if syscall.Kill(process, syscall.SIGKILL) == nil {
					t.Error("DynamoDB Local still runs")
				}
			}
		})
	}
}

// Package deployment deploys the service as an operator does, and checks that this machine's local AWS and an
// AWS account cannot be taken for each other.
//
//	DEPLOYMENT=1 go test -v ./test/deployment
package deployment

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.RunInRoot(m) }

// needs skips a test unless it was asked for: it takes long, and installs SAM and the local AWS.
func needs(t *testing.T, programs ...string) {
	t.Helper()
	if os.Getenv("DEPLOYMENT") == "" {
		t.Skip("skipped: DEPLOYMENT=1 go test ./test/deployment deploys to a local AWS, for about seven minutes")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			processtest.SkipWithout(t, program)
		}
	}
}

// A cloud is a running local AWS that checks permissions, or an AWS account, and a copy of the project to deploy
// to it.
type cloud struct {
	folder string

	// Of a local AWS. An account has none.
	port      string
	process   int    // the id of its process
	temporary string // its folder for temporary files
}

// start starts a local AWS for a user with an AWS account. It stops at the end of the test, and must then
// have removed its files, with the code of the functions that it ran.
func start(t *testing.T) cloud {
	t.Helper()
	local := cloud{port: freePort(t), folder: processtest.Repository(t), temporary: t.TempDir()}
	server := exec.Command(filepath.Join(local.folder, "tools/local/aws"), "--port", local.port) //nolint:noctx // it stops by a signal
	server.Env = append(os.Environ(), userVariables("http://user.example")...)
	server.Env = append(server.Env, "AUTH=true", "AWS_ENDPOINT_URL_DYNAMODB=http://user.example", "TMPDIR="+local.temporary)
	server.Stdout, server.Stderr = os.Stderr, os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	local.process = server.Process.Pid
	// If the test is killed, the input of the watcher ends.
	watcher := exec.Command("sh", "-c", watch, "sh", strconv.Itoa(server.Process.Pid), filepath.Dir(local.folder)) //nolint:noctx // it stops by a signal
	watcher.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := watcher.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := watcher.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = watcher.Process.Kill()
		_ = watcher.Wait() // the signal is its error
		if err := syscall.Kill(-server.Process.Pid, syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		_ = server.Wait() // the signal may be its error
		if left, err := os.ReadDir(local.temporary); err != nil || len(left) > 0 {
			t.Errorf("the local AWS leaves %v, %v in the folder for temporary files", left, err)
		}
	})
	health := "http://127.0.0.1:" + local.port + "/_ministack/health"
	for deadline := time.Now().Add(5 * time.Minute); ; time.Sleep(100 * time.Millisecond) { // the first start installs it
		response, err := http.Get(health) //nolint:noctx // the test ends with the process
		if err == nil {
			_ = response.Body.Close() // its status is enough
			return local
		}
		if time.Now().After(deadline) {
			t.Fatalf("the local AWS does not start: %v", err)
		}
	}
}

// watch waits until the test has ended, and then ends the local AWS and removes the test's folders.
const watch = `read -r line
kill -- "-$1"
while kill -0 -- "-$1"; do sleep 0.1; done 2>/dev/null
until rm -rf "$2"; do sleep 1; done`

func freePort(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(nil)
	server.Close()
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// command returns a command of the copied project. Variables for it, such as BUILD=1, may precede it. It also
// runs in a cleanup, which an interrupt does not reach.
func (c cloud) command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	arguments = append([]string{"env"}, arguments...)
	environment := os.Environ()
	if c.port != "" {
		arguments = append([]string{"tools/local/aws", "--port", c.port}, arguments...)
		// `make deploy` builds for x86_64, except for the environment local.
		architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
		environment = append(environment, "MAKEFLAGS=ARCH="+architecture)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), arguments[0], arguments[1:]...)
	command.Dir = c.folder
	command.Env = environment
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: t.Context().Err() != nil}
	return command
}

// run runs a command, and returns everything that it prints.
func (c cloud) run(t *testing.T, arguments ...string) (output string, err error) {
	t.Helper()
	out, err := c.command(t, arguments...).CombinedOutput()
	return string(out), err
}

// must is run for a command that must succeed.
func (c cloud) must(t *testing.T, arguments ...string) (output string) {
	t.Helper()
	output, err := c.run(t, arguments...)
	if err != nil {
		isSecret := func(argument string) bool { return strings.HasPrefix(argument, "AWS_") }
		t.Fatalf("%v: %v\n%s", slices.DeleteFunc(arguments, isSecret), err, output)
	}
	return output
}

// query returns what a query finds in the answer to a command of the AWS CLI.
func (c cloud) query(t *testing.T, query string, arguments ...string) string {
	t.Helper()
	command := c.command(t, append(append([]string{"aws"}, arguments...), "--query", query, "--output", "text")...)
	var stderr strings.Builder
	command.Stderr = &stderr // which may have warnings
	output, err := command.Output()
	if err != nil {
		t.Fatalf("aws %q: %v\n%s", arguments, err, &stderr)
	}
	return strings.TrimSpace(string(output))
}

// output returns an output of a stack.
func (c cloud) output(t *testing.T, stack, name string) string {
	t.Helper()
	query := "Stacks[0].Outputs[?OutputKey=='" + name + "'].OutputValue"
	return c.query(t, query, "cloudformation", "describe-stacks", "--stack-name", stack)
}

// resource returns the physical id of a resource of a stack.
func (c cloud) resource(t *testing.T, stack, name string) string {
	t.Helper()
	query := "StackResources[?LogicalResourceId=='" + name + "'].PhysicalResourceId"
	return c.query(t, query, "cloudformation", "describe-stack-resources", "--stack-name", stack)
}

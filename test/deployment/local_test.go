// Package deployment deploys the service to a local AWS, as an operator deploys it to AWS, and checks
// that this machine's local AWS and an AWS account cannot be taken for each other. docs/operations.md,
// "Proofs", says what that proves.
//
//	DEPLOYMENT=1 go test -v ./test/deployment
package deployment

import (
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
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
		t.Skip("skipped: DEPLOYMENT=1 go test ./test/deployment deploys to a local AWS, for about a minute")
	}
	for _, program := range programs {
		if _, err := exec.LookPath(program); err != nil {
			processtest.Lacks(t, program)
		}
	}
}

// A localAWS is a running local AWS that checks permissions, and a copy of the project to deploy to it.
type localAWS struct {
	port, folder string
}

// start starts a local AWS, which stops at the end of the test.
func start(t *testing.T) localAWS {
	t.Helper()
	local := localAWS{port: freePort(t), folder: processtest.Repository(t)}
	server := exec.Command(filepath.Join(local.folder, "tools/local/aws"), "--port", local.port) //nolint:noctx // it stops by a signal
	// The user's variables must not reach the functions.
	server.Env = append(os.Environ(), "AUTH=true", "AWS_ACCESS_KEY_ID=user", "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1")
	server.Stdout, server.Stderr = os.Stderr, os.Stderr
	server.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = syscall.Kill(-server.Process.Pid, syscall.SIGTERM) // it runs
		_ = server.Wait()                                      // the signal is its error
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

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nobody uses it
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// command returns a command of the copied project. Variables for it, such as BUILD=1, may precede it.
func (local localAWS) command(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	arguments = append([]string{"--port", local.port, "env"}, arguments...)
	command := exec.CommandContext(t.Context(), "tools/local/aws", arguments...)
	command.Dir = local.folder
	// `make deploy` builds for x86_64, except for the environment local.
	architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
	command.Env = append(os.Environ(), "MAKEFLAGS=ARCH="+architecture)
	return command
}

// run returns everything that a command prints.
func (local localAWS) run(t *testing.T, arguments ...string) (output string, err error) {
	t.Helper()
	out, err := local.command(t, arguments...).CombinedOutput()
	return string(out), err
}

// must is run for a command that must succeed.
func (local localAWS) must(t *testing.T, arguments ...string) (output string) {
	t.Helper()
	output, err := local.run(t, arguments...)
	if err != nil {
		t.Fatalf("%v: %v\n%s", arguments, err, output)
	}
	return output
}

// aws decodes the answer to a command of the AWS CLI into answer.
func (local localAWS) aws(t *testing.T, answer any, arguments ...string) {
	t.Helper()
	output := local.must(t, append(append([]string{"aws"}, arguments...), "--output", "json")...)
	if err := json.Unmarshal([]byte(output), answer); err != nil {
		t.Fatalf("%v: %v\n%s", arguments, err, output)
	}
}

// outputs returns the outputs of a stack.
func (local localAWS) outputs(t *testing.T, stack string) map[string]string {
	t.Helper()
	var list []struct{ OutputKey, OutputValue string }
	local.aws(t, &list, "cloudformation", "describe-stacks", "--stack-name", stack, "--query", "Stacks[0].Outputs")
	outputs := map[string]string{}
	for _, output := range list {
		outputs[output.OutputKey] = output.OutputValue
	}
	return outputs
}

// resources returns the physical id of each resource of a stack.
func (local localAWS) resources(t *testing.T, stack string) map[string]string {
	t.Helper()
	var list []struct{ LogicalResourceId, PhysicalResourceId string } //nolint:revive,staticcheck // AWS's names
	local.aws(t, &list, "cloudformation", "describe-stack-resources", "--stack-name", stack, "--query", "StackResources")
	resources := map[string]string{}
	for _, resource := range list {
		resources[resource.LogicalResourceId] = resource.PhysicalResourceId
	}
	return resources
}

package commands

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/tokens"
)

// startAWS starts a DynamoDB with a CloudFormation, whose stack plant-store-dev has the table its-table.
func startAWS(t *testing.T) (fake *dynamotest.Fake, variable string) {
	fake = &dynamotest.Fake{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") != "" {
			fake.ServeHTTP(w, r)
		} else if r.FormValue("StackName") == "plant-store-dev" && r.FormValue("LogicalResourceId") == "TokensTable" {
			fmt.Fprint(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
				<PhysicalResourceId>its-table</PhysicalResourceId>
				</StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`)
		}
	}))
	t.Cleanup(server.Close)
	return fake, "AWS_ENDPOINT_URL=" + server.URL
}

// A token is issued, alone on standard output, listed and revoked, by itself or by its digest.
func TestToken(t *testing.T) {
	fake, variable := startAWS(t)
	run := func(args ...string) (stdout, stderr string, err error) {
		var out, messages bytes.Buffer
		command := exec.CommandContext(t.Context(), filepath.Join(programs, "token"), args...)
		command.Env, command.Stdout, command.Stderr = environment(variable), &out, &messages
		err = command.Run()
		return strings.TrimSpace(out.String()), messages.String(), err
	}
	succeed := func(args ...string) string {
		t.Helper()
		out, messages, err := run(args...)
		if err != nil {
			t.Fatalf("token %q: %v: %s", args, err, messages)
		}
		return out
	}
	const stack = "--stack=plant-store-dev"
	url := strings.TrimPrefix(variable, "AWS_ENDPOINT_URL=")
	alice := succeed("issue", stack, "--subject", "alice", "--ttl", "2h")
	bob := succeed("issue", "--table=its-table", "--endpoint-url", url, "--subject", "bob", "--ttl", "1h")
	if !tokens.IsToken(alice) || !tokens.IsToken(bob) {
		t.Fatalf("issue prints %q and %q", alice, bob)
	}
	list := strings.Split(succeed("list", stack), "\n")
	if len(list) != 3 || !strings.Contains(list[1], "bob") || !strings.Contains(list[2], tokens.Digest(alice)) {
		t.Errorf("list prints %q", list)
	}
	for _, args := range [][]string{
		{},
		{"issue"},
		{"lists", stack},
		{"issue", stack},
		{"issue", stack, "--table=x", "--subject=x"},
		{"list", "--stack=other"},
		{"revoke", stack},
		{"revoke", stack, alice, bob},
		{"revoke", stack, alice + "x"},
		{"list", stack, "x"},
	} {
		if out, messages, err := run(args...); err == nil || out != "" || messages == "" || strings.Contains(messages, alice) {
			t.Errorf("token %q gives %v, prints %q and says %q", args, err, out, messages)
		}
	}
	succeed("revoke", stack, alice)
	succeed("revoke", stack, tokens.Digest(bob))
	if list := succeed("list", stack); strings.Contains(list, "\n") {
		t.Errorf("list prints %q", list)
	}
	if got := strings.Join(fake.Requests, ","); strings.Count(got, "PutItem") != 2 || strings.Count(got, "DeleteItem") != 3 {
		t.Errorf("DynamoDB gets %s", got)
	}
}

// The command that the local server prints works as pasted, and its pages are there.
func TestLocal(t *testing.T) {
	command := exec.CommandContext(t.Context(), filepath.Join(programs, "local"), "-addr", "127.0.0.1:0")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = command.Process.Kill() // it fails only if the server has ended
		_ = command.Wait()         // it was killed
	}()
	var curl string
	for lines := bufio.NewScanner(out); !strings.HasPrefix(curl, "curl") && lines.Scan(); {
		curl = lines.Text()
	}
	for range 2 {
		got, err := exec.CommandContext(t.Context(), "sh", "-c", curl).CombinedOutput()
		if err != nil || string(got) != `{"name":"Fern","tag":"indoor"}`+"\n" {
			t.Errorf("%s prints %s, %v", curl, got, err)
		}
	}
	url := regexp.MustCompile(`http://[^/]+`).FindString(curl)
	for path, want := range map[string]string{"/docs/": "Plant store", "/openapi.yaml": "openapi: 3.1.0", "/": `{"message":"Not Found"}`} {
		response, err := http.Get(url + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body) // half a page is a wrong one
		_ = response.Body.Close()
		if !strings.Contains(string(body), want) {
			t.Errorf("%s has %.200s, want %s in it", path, body, want)
		}
	}
}

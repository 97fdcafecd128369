package commands

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/tokens"
)

// A token is issued, alone on standard output, listed and revoked, by itself or by its digest. What is wrong with a command
// is said before AWS is asked, and no word of the SDK comes in between.
func TestToken(t *testing.T) {
	fake := &dynamotest.Fake{}
	var asked atomic.Int32
	aws := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		switch {
		case r.Header.Get("X-Amz-Target") != "":
			fake.ServeHTTP(w, r)
		case r.FormValue("StackName") == "plant-store-dev" && r.FormValue("LogicalResourceId") == "TokensTable":
			fmt.Fprint(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
				<PhysicalResourceId>its-table</PhysicalResourceId>
				</StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	}))
	defer aws.Close()
	run := func(args ...string) (stdout, stderr string, err error) {
		var out, messages bytes.Buffer
		command := program(t, "token", "AWS_ENDPOINT_URL="+aws.URL)
		command.Args = append(command.Args, args...)
		command.Stdout, command.Stderr = &out, &messages
		err = command.Run()
		return strings.TrimSpace(out.String()), messages.String(), err
	}
	succeed := func(args ...string) string {
		t.Helper()
		out, messages, err := run(args...)
		if isIssue := args[0] == "issue"; err != nil || isIssue != (messages != "") {
			t.Fatalf("token %q: %v: %s", args, err, messages)
		}
		return out
	}
	const stack = "--stack=plant-store-dev"
	alice := succeed("issue", stack, "--subject", "alice", "--days", "2")
	bob := succeed("issue", stack, "--subject", "bob", "--days", "1")
	local := succeed("issue", "--endpoint-url", aws.URL, "--subject", "developer")
	if !tokens.IsToken(alice) || !tokens.IsToken(bob) || !tokens.IsToken(local) {
		t.Fatalf("issue prints %q, %q and %q", alice, bob, local)
	}
	if len(fake.Items) != 3 || fake.Items["its-table/"+tokens.Digest(alice)] == "" || fake.Items["TokensTable/"+tokens.Digest(local)] == "" {
		t.Errorf("the tables have %v", fake.Items)
	}
	list := strings.Split(succeed("list", stack), "\n")
	if len(list) != 3 || !strings.Contains(list[1], "bob") || !strings.Contains(list[2], tokens.Digest(alice)) {
		t.Errorf("list prints %q", list)
	}
	asked.Store(0)
	for _, args := range [][]string{
		{},
		{"list"},
		{"lists", stack},
		{"list", stack, "x"},
		{"list", stack, "--endpoint-url", aws.URL},
		{"list", stack, "--table=x"},
		{"issue", stack},
		{"issue", stack, "--subject=x", "--days=0"},
		{"revoke", stack},
		{"revoke", stack, alice, bob},
		{"revoke", stack, alice + "x"},
	} {
		if out, messages, err := run(args...); err == nil || out != "" || messages == "" || strings.Contains(messages, alice) {
			t.Errorf("token %q gives %v, prints %q and says %q", args, err, out, messages)
		}
	}
	if help := succeed("help"); !strings.Contains(help, "token issue") || asked.Load() > 0 {
		t.Errorf("help prints %q, and AWS was asked %d times", help, asked.Load())
	}
	if _, messages, err := run("list", "--stack=other"); err == nil || !strings.Contains(messages, "the stack other") {
		t.Errorf("without its stack, list gives %v and says %q", err, messages)
	}
	succeed("revoke", stack, alice)
	succeed("revoke", stack, tokens.Digest(bob))
	if again := succeed("revoke", stack, alice); !strings.Contains(again, "no such token") {
		t.Errorf("revoke prints %q the second time", again)
	}
	if list := succeed("list", stack); strings.Contains(list, "\n") {
		t.Errorf("list prints %q", list)
	}
}

// Whoever has to log in again is told how.
func TestExpiredSession(t *testing.T) {
	home := t.TempDir()
	config := filepath.Join(home, "config")
	const profile = "[default]\nsso_session = s\nsso_account_id = 1\nsso_role_name = x\n" +
		"[sso-session s]\nsso_start_url = https://example.com\nsso_region = us-east-1\n"
	if err := os.WriteFile(config, []byte(profile), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), filepath.Join(programs, "token"), "list", "--stack=x")
	command.Env = []string{"HOME=" + home, "AWS_CONFIG_FILE=" + config, "AWS_REGION=us-east-1"}
	if out, err := command.CombinedOutput(); err == nil || !strings.Contains(string(out), "aws sso login") {
		t.Errorf("list gives %v and prints %s", err, out)
	}
}

// The command that the local server prints works as pasted.
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
		if err != nil || string(got) != `{"name":"Fern","tag":"indoor"} 200`+"\n" {
			t.Errorf("%s prints %s, %v", curl, got, err)
		}
	}
}

package commands

import (
	"bufio"
	"bytes"
	"context"
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

// token runs the command with these arguments.
func token(t *testing.T, variables []string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, messages bytes.Buffer
	command := exec.CommandContext(t.Context(), filepath.Join(programs, "token"), args...)
	command.Env, command.Stdout, command.Stderr = environment(variables...), &out, &messages
	err = command.Run()
	return out.String(), messages.String(), err
}

// A token is issued, listed and revoked, by itself or by its digest.
func TestToken(t *testing.T) {
	var fake dynamotest.Fake
	database := httptest.NewServer(&fake)
	defer database.Close()
	table := []string{"--endpoint-url", database.URL, "--table", "tokens"}
	run := func(command string, args ...string) string {
		t.Helper()
		out, messages, err := token(t, nil, append(append([]string{command}, table...), args...)...)
		if err != nil {
			t.Fatalf("token %s %v: %v: %s", command, args, err, messages)
		}
		return out
	}
	alice := run("issue", "--subject", "alice", "--ttl", "2h")
	bob := run("issue", "--subject", "bob", "--ttl", "1h")
	format := regexp.MustCompile(`^pst_[A-Z2-7]{26}\n$`)
	if !format.MatchString(alice) || !format.MatchString(bob) {
		t.Fatalf("issue prints %q and %q", alice, bob)
	}
	alice, bob = strings.TrimSpace(alice), strings.TrimSpace(bob)
	rows := strings.Split(run("list"), "\n")
	if len(rows) != 4 || !strings.Contains(rows[1], "bob") || !strings.Contains(rows[2], tokens.Digest(alice)) {
		t.Errorf("list prints %q", rows)
	}
	run("revoke", alice)
	run("revoke", tokens.Digest(bob))
	for _, args := range [][]string{
		{},
		{"issue"},
		{"list"},
		{"lists", "--table", "x", "--endpoint-url", database.URL},
		append([]string{"issue"}, table...),
		append([]string{"revoke"}, table...),
		append([]string{"revoke"}, append(table, alice)...),
		append([]string{"revoke"}, append(table, alice+"x")...),
	} {
		out, messages, err := token(t, nil, args...)
		if err == nil || out != "" || messages == "" || strings.Contains(messages, alice) {
			t.Errorf("token %q gives %v, prints %q and says %q", args, err, out, messages)
		}
	}
	database.Close()
	if len(fake.Items) != 0 {
		t.Errorf("the table still has %v", fake.Items)
	}
}

// The table of a stack is the one that CloudFormation names.
func TestTokenOfStack(t *testing.T) {
	var fake dynamotest.Fake
	aws := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") != "" {
			fake.ServeHTTP(w, r)
			return
		}
		if r.FormValue("StackName") == "plant-store-dev" && r.FormValue("LogicalResourceId") == "TokensTable" {
			fmt.Fprint(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
				<PhysicalResourceId>its-table</PhysicalResourceId>
				</StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`)
		}
	}))
	out, messages, err := token(t, []string{"AWS_ENDPOINT_URL=" + aws.URL}, "issue", "--stack", "plant-store-dev", "--subject", "alice")
	aws.Close()
	if stored := fake.Items["its-table/"+tokens.Digest(strings.TrimSpace(out))]; err != nil || stored == "" {
		t.Errorf("issue gives %v, prints %q and says %q; the tables have %v", err, out, messages, fake.Items)
	}
}

// The command that the local server prints works as pasted.
func TestLocal(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	command := exec.CommandContext(ctx, filepath.Join(programs, "local"), "-addr", "127.0.0.1:0")
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop()
		_ = command.Wait() // it was killed
	}()
	var curl string
	for lines := bufio.NewScanner(out); !strings.HasPrefix(curl, "curl") && lines.Scan(); {
		curl = lines.Text()
	}
	for range 2 {
		if got, err := exec.CommandContext(ctx, "sh", "-c", curl).CombinedOutput(); string(got) != `{"name":"Fern","tag":"indoor"}`+"\n" {
			t.Errorf("%s prints %s, %v", curl, got, err)
		}
	}
	url := regexp.MustCompile(`http://[^/]+`).FindString(curl)
	for path, want := range map[string]string{"/docs/": "Plant store", "/openapi.yaml": "openapi: 3.1.0", "/other": `{"message":"Not Found"}`} {
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

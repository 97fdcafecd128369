package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
)

// tokenTool returns a command that uses an empty token table, and that table. DynamoDB Local would refuse the access key
// id in the environment, so the command must not use it.
func tokenTool(t *testing.T) (tool, *dynamo.Tokens) {
	t.Helper()
	client, _, tokens := dynamotest.NewTables(t)
	endpoint := dynamotest.Endpoint(t)
	plantstore := newTool(t, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint, "AWS_ACCESS_KEY_ID=a_b", "AWS_SECRET_ACCESS_KEY=c")
	plantstore.flags = "--table " + tokens
	return plantstore, &dynamo.Tokens{Client: client, Table: tokens}
}

// issue issues a token and returns it with its id. The token must not appear on standard error, which may be logged.
func (p tool) issue(t *testing.T, subject, flags string) (bearer, id string) {
	t.Helper()
	got := p.run(t, "token issue --subject "+subject+" "+flags, "")
	bearer = strings.TrimSpace(got.stdout)
	id, ok := token.ParseID(bearer)
	described := strings.HasPrefix(got.stderr, "Token "+id+" for "+subject+", valid until 2")
	if !ok || !described || strings.Contains(got.stderr, bearer) {
		t.Fatalf("token issue = %+v, want a token on standard output, and its id and subject on standard error", got)
	}
	return bearer, id
}

// header matches the first line of a list.
const header = "ID +SUBJECT +CREATED +EXPIRES +STATE\n"

func TestRevokeAndList(t *testing.T) {
	t.Parallel()
	plantstore, store := tokenTool(t)
	plantstore.issue(t, "bob", "") // valid for 30 days
	plantstore.issue(t, "ann", "--ttl 2h")
	_, byID := plantstore.issue(t, "eve", "--ttl 3h")
	_, expired, _ := token.Issue("sue", time.Now().Add(-2*time.Hour), time.Hour) // the subject is valid
	if err := store.Add(t.Context(), expired); err != nil {
		t.Fatal(err)
	}
	input, byInput := plantstore.issue(t, "eve", "--ttl 90d")
	for range 2 {
		plantstore.check(t, "token revoke "+byID, result{stdout: "Token " + byID + " is revoked.\n"})
	}
	plantstore.check(t, "token revoke "+input, result{stdout: "Token " + byInput + " is revoked.\n"})
	if got := plantstore.run(t, "token revoke -", input+"\n"); got.stdout != "Token "+byInput+" is revoked.\n" {
		t.Errorf("token revoke - = %+v, want the id of the token on standard input", got)
	}
	notFound := ".* cannot revoke token SAMPLETOKEN2 in table " + store.Table + ": token: not found\n"
	plantstore.check(t, "token revoke SAMPLETOKEN2", result{status: 1, stderr: notFound})
	const all = `.* sue .* expired\n.* ann .* valid\n.* eve .* revoked\n.* bob .* valid\n.* eve .* revoked\n`
	plantstore.check(t, "token list", result{stdout: header + all})
	const ann, bob, soon = `.* ann .*\n`, `.* bob .*\n`, `.*tokens expire soon: .*\n`
	plantstore.check(t, "token list --expiring 721h", result{status: 1, stdout: header + ann + bob, stderr: soon})
	plantstore.check(t, "token list --expiring 719h", result{status: 1, stdout: header + ann, stderr: soon})
	plantstore.check(t, "token list --expiring 1h", result{stdout: header})
	full := exec.Command("sh", "-c", os.Args[0]+" token list --table "+store.Table+" >/dev/full")
	full.Env = plantstore.environment
	if printed, err := full.CombinedOutput(); err == nil || !strings.Contains(string(printed), "no space left") {
		t.Errorf("token list to a full disk = %v, %s, want a failure that says so", err, printed)
	}
}

// With --stack, the command asks CloudFormation for the table, and uses the same region and credentials for both.
// --endpoint-url applies to DynamoDB but not to CloudFormation, whatever the environment says.
func TestStack(t *testing.T) {
	t.Parallel()
	cloudFormation := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("StackName") == "dev" && r.FormValue("LogicalResourceId") == "TokensTable" {
			_, _ = io.WriteString(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
				<PhysicalResourceId>table-of-dev</PhysicalResourceId>
				</StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`)
		}
	}))
	t.Cleanup(cloudFormation.Close)
	var put struct {
		TableName string
		Item      struct{ ID struct{ S string } }
	}
	var signature string
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = json.NewDecoder(r.Body).Decode(&put) // the test fails if there is no table
		signature = r.Header.Get("Authorization")
		_, _ = io.WriteString(w, "{}")
	}))
	plantstore := newTool(t, "AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:1", "AWS_ENDPOINT_URL="+cloudFormation.URL,
		"AWS_REGION=eu-central-1", "AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret")
	_, id := plantstore.issue(t, "ann", "--stack dev --endpoint-url "+database.URL)
	database.Close() // waits for the handler to finish
	if put.TableName != "table-of-dev" || put.Item.ID.S != id {
		t.Errorf("the command stores %+v, want the token that was issued in table-of-dev", put)
	}
	if !regexp.MustCompile(`Credential=id/\d+/eu-central-1/dynamodb/`).MatchString(signature) {
		t.Errorf("the request is signed with %s, want the key id in eu-central-1", signature)
	}
}

// The command prints DynamoDB's error. `token issue` also names the token, which may be stored. With an endpoint, the
// default table is TokensTable. An empty variable counts as unset.
func TestRefusals(t *testing.T) {
	t.Parallel()
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ TableName string }
		_ = json.NewDecoder(r.Body).Decode(&in) // if this fails, the answer names no table
		http.Error(w, `{"__type":"AccessDeniedException","message":"no `+in.TableName+`"}`, http.StatusBadRequest)
	}))
	t.Cleanup(database.Close)
	plantstore := newTool(t, "AWS_ENDPOINT_URL_DYNAMODB=", "AWS_ENDPOINT_URL="+database.URL)
	const refusal = ".* AccessDeniedException: no TokensTable"
	for _, test := range []struct{ args, want string }{
		{
			"token issue --subject bob",
			"cannot issue a token: " + refusal + "; if `token list` shows .{12}, revoke it, because its secret is lost",
		},
		{"token revoke SAMPLETOKEN2", "cannot revoke token SAMPLETOKEN2 in table TokensTable: " + refusal},
		{"token list", refusal},
	} {
		plantstore.check(t, test.args, result{status: 1, stderr: "plantstore: error: " + test.want + "\n"})
	}
}

// If DynamoDB cannot be reached, a command gives up within ten seconds.
func TestUnreachable(t *testing.T) {
	for name, command := range map[string]interface {
		Run(ctx context.Context, command *tokenCommand) error
	}{
		"issue":  &issueCommand{Subject: "ann", TTL: lifetime(time.Hour)},
		"revoke": &revokeCommand{Words: []string{"SAMPLETOKEN2"}},
		"list":   &listCommand{},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := command.Run(t.Context(), &tokenCommand{connection: connection{EndpointURL: "http://127.0.0.1:1"}})
				took := time.Since(start)
				if !strings.Contains(fmt.Sprint(err), "connection refused") || took < 8*time.Second || took > 10*time.Second {
					t.Errorf("Run = %v after %v, want connection refused after about 10 s", err, took)
				}
			})
		})
	}
}

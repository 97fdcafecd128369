package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// tokenTool returns a command with an empty table of tokens, and the store in it. Its environment has an access key id
// that DynamoDB Local refuses, because of the underscore.
func tokenTool(t *testing.T) (tool, *dynamo.Tokens) {
	t.Helper()
	client, _, tokens := dynamotest.NewTables(t)
	plantstore := newTool(t, "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "TOKENS_TABLE="+tokens,
		"AWS_ACCESS_KEY_ID=a_b", "AWS_SECRET_ACCESS_KEY=c")
	return plantstore, &dynamo.Tokens{Client: client, Table: tokens}
}

// issue issues a token with these flags and returns it with its id. Standard error, which may be logged, does not
// have the token.
func (p tool) issue(t *testing.T, subject, flags string) (bearer, id string) {
	t.Helper()
	got := p.run(t, "token issue --subject "+subject+" "+flags, "")
	bearer = strings.TrimSpace(got.stdout)
	id, ok := token.ParseID(bearer)
	if !ok || !strings.HasPrefix(got.stderr, "Token "+id+" for "+subject+", ") || strings.Contains(got.stderr, bearer) {
		t.Fatalf("token issue = %+v, want a token on standard output, and its id and subject on standard error", got)
	}
	return bearer, id
}

// revoke revokes the token that the argument, or standard input, denotes.
func (p tool) revoke(t *testing.T, argument, stdin, id string) {
	t.Helper()
	want := result{stdout: "Token " + id + " is revoked.\n"}
	if got := p.run(t, "token revoke "+argument, stdin); got != want {
		t.Errorf("token revoke = %+v, want %+v", got, want)
	}
}

// A token is stored as it was issued. Its lifetime is 30 days, unless a flag says otherwise.
func TestIssue(t *testing.T) {
	t.Parallel()
	plantstore, store := tokenTool(t)
	tests := []struct {
		name  string
		flags string
		want  time.Duration
	}{
		{name: "no flag", want: 30 * 24 * time.Hour},
		{name: "a lifetime", flags: "--ttl 2h", want: 2 * time.Hour},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			bearer, id := plantstore.issue(t, "ann", test.flags)
			stored, err := store.Find(t.Context(), id)
			if err != nil || stored.Digest != token.Digest(bearer) || stored.Subject != "ann" {
				t.Errorf("token issue %s = %s, which is stored as %+v, %v", test.flags, bearer, stored, err)
			}
			if lifetime := stored.ExpiresAt.Sub(stored.CreatedAt).Round(time.Minute); lifetime != test.want {
				t.Errorf("token issue %s = %+v, which is valid for %v, want %v", test.flags, stored, lifetime, test.want)
			}
		})
	}
}

// With --stack, the command uses the stack's table of tokens. --endpoint-url is the URL of DynamoDB, whatever the
// variables say. It is not used for CloudFormation.
func TestStack(t *testing.T) {
	t.Parallel()
	_, store := tokenTool(t)
	cloudFormation := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("StackName") == "dev" && r.FormValue("LogicalResourceId") == "TokensTable" {
			fmt.Fprintf(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
				<PhysicalResourceId>%s</PhysicalResourceId>
				</StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`, store.Table)
		}
	}))
	t.Cleanup(cloudFormation.Close)
	plantstore := newTool(t, slices.Concat(processtest.Environment("http://127.0.0.1:1"),
		[]string{"AWS_ENDPOINT_URL=" + cloudFormation.URL, "TOKENS_TABLE=another"})...)
	_, id := plantstore.issue(t, "ann", "--stack dev --endpoint-url "+dynamotest.Endpoint(t))
	if _, err := store.Find(t.Context(), id); err != nil {
		t.Errorf("Find in the table of the stack = %v, want the token that was issued", err)
	}
}

// A refusal of DynamoDB is the error of the command.
// AWS_IGNORE_CONFIGURED_ENDPOINT_URLS does not switch --endpoint-url off.
func TestRefusals(t *testing.T) {
	t.Parallel()
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"__type":"AccessDeniedException"}`, http.StatusBadRequest)
	}))
	t.Cleanup(database.Close)
	plantstore := newTool(t, "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS=true")
	for _, test := range []struct{ command, want string }{
		{"token issue --subject bob", `.* AccessDeniedException: UnknownError`},
		{"token list", `.* AccessDeniedException: UnknownError`},
		{"token revoke id", `.* AccessDeniedException: UnknownError`},
	} {
		plantstore.check(t, test.command+" --endpoint-url "+database.URL, result{status: 1, stderr: "plantstore: error: " + test.want + "\n"})
	}
}

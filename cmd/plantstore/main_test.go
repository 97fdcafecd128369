package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"plantstore/internal/dynamo"
	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/token"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"plantstore": main}) }

// run runs a script in testdata, which has what a person types and sees, with these environment variables and no others.
func run(t *testing.T, script string, variables ...string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Files: []string{"testdata/" + script},
		Setup: func(env *testscript.Env) error {
			env.Vars = append(env.Vars, "AWS_EC2_METADATA_DISABLED=true", "GORACE="+os.Getenv("GORACE"))
			env.Vars = append(env.Vars, variables...)
			return nil
		},
	})
}

func TestFailures(t *testing.T) { run(t, "failures.txtar") }

// The table has a token that has expired, and the token of the sample events, which expires in three hours.
func TestTokens(t *testing.T) {
	table := newTable(t,
		token.Token{ID: "EXPIRED TOKEN", Digest: "d", Subject: "sué\x1b[2J\nfake", ExpiresAt: time.Now().Add(-time.Hour)},
		token.Token{ID: "SAMPLETOKEN2", Digest: "d", Subject: "eve", ExpiresAt: time.Now().Add(3 * time.Hour)},
	)
	run(t, "tokens.txtar", "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "TABLE="+table)
}

// Items without a digest are not tokens.
func TestItemsThatAreNotTokens(t *testing.T) {
	table := newTable(t,
		token.Token{ID: "SAMPLETOKEN2", Digest: "d", Subject: "eve"},
		token.Token{ID: "first", Subject: "eve"},
		token.Token{ID: "second", Subject: "eve"},
	)
	run(t, "not-tokens.txtar", "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "TABLE="+table)
}

// In place of AWS, there is a CloudFormation whose stack dev has a table in DynamoDB Local.
func TestStack(t *testing.T) {
	table := newTable(t)
	cloudFormation := startCloudFormation(t, table)
	run(t, "stack.txtar", "AWS_ENDPOINT_URL="+cloudFormation, "DATABASE="+dynamotest.Endpoint(t), "TABLE="+table)
}

// In place of AWS, there is a CloudFormation, and a DynamoDB that refuses every request. Its message has the table and the
// signature of the request.
func TestRefusals(t *testing.T) {
	database := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var in struct{ TableName string }
		_ = json.NewDecoder(r.Body).Decode(&in) // if this fails, the message names no table
		message := "no access to " + in.TableName + " with " + r.Header.Get("Authorization")
		http.Error(w, `{"__type":"AccessDeniedException","message":"`+message+`"}`, http.StatusBadRequest)
	}))
	t.Cleanup(database.Close)
	run(t, "refusals.txtar", "CLOUDFORMATION="+startCloudFormation(t, "table-of-dev"), "DATABASE="+database.URL)
}

// newTable returns the name of a table in DynamoDB Local that has these tokens.
func newTable(t *testing.T, tokens ...token.Token) string {
	t.Helper()
	client, _, table := dynamotest.NewTables(t)
	store := &dynamo.Tokens{Client: client, Table: table}
	for _, stored := range tokens {
		if err := store.Add(t.Context(), stored); err != nil {
			t.Fatal(err)
		}
	}
	return table
}

// startCloudFormation returns the URL of a stand-in for CloudFormation in eu-central-1 whose stack dev has this table of
// tokens.
func startCloudFormation(t *testing.T, table string) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		inRegion := strings.Contains(r.Header.Get("Authorization"), "/eu-central-1/cloudformation/")
		if !inRegion || r.FormValue("StackName") != "dev" || r.FormValue("LogicalResourceId") != "TokensTable" {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `<ErrorResponse><Error><Code>ValidationError</Code>
				<Message>Stack does not exist</Message></Error></ErrorResponse>`)
			return
		}
		fmt.Fprintf(w, `<DescribeStackResourceResponse><DescribeStackResourceResult><StackResourceDetail>
			<PhysicalResourceId>%s</PhysicalResourceId>
			</StackResourceDetail></DescribeStackResourceResult></DescribeStackResourceResponse>`, table)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

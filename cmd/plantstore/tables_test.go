package main

import (
	"crypto/rand"
	"testing"

	"plantstore/test/dynamotest"
)

// The other commands ask for `tables create`, which can be repeated.
func TestTablesCreate(t *testing.T) {
	t.Parallel()
	run := rand.Text() // the tables stay
	plants, tokens := "p-"+run, "t-"+run
	p := newTool(t, "AWS_ENDPOINT_URL_DYNAMODB="+dynamotest.Endpoint(t), "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
	for _, args := range []string{"token list", "serve --addr 127.0.0.1:0"} {
		p.check(t, args, result{status: 1, stderr: ".*the table does not exist: [pt]-" + run + "; .*`plantstore tables create`.*\n"})
	}
	for range 2 {
		p.check(t, "tables create", result{stdout: "Tables " + plants + " and " + tokens + " exist.\n"})
	}
}

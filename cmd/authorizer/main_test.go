package main

import (
	"strings"
	"testing"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// The authorizer refuses a token that has expired.
func TestExpiredToken(t *testing.T) {
	client, _, table := dynamotest.Tables(t)
	bearer, expired, err := token.Issue("alice", time.Now().Add(-time.Hour), time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&dynamo.Tokens{Client: client, Table: table}).Add(t.Context(), expired); err != nil {
		t.Fatal(err)
	}
	environment := processtest.Environment(dynamotest.Endpoint(t), "TOKENS_TABLE="+table)
	got := processtest.Invoke(t, processtest.Build(t, "cmd/authorizer"), environment, `{"headers":{"authorization":"Bearer `+bearer+`"}}`)
	if want := `"verdict":"deny"`; !strings.Contains(got[0], want) {
		t.Errorf("the authorizer answers %s, want %s", got[0], want)
	}
}

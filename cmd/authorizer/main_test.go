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

// The authorizer allows a token that is in its table: main gives it the verifier that reads the table.
func TestTokenInTable(t *testing.T) {
	client, _, table := dynamotest.NewTables(t)
	bearer, issued, err := token.Issue("alice", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := (&dynamo.Tokens{Client: client, Table: table}).Add(t.Context(), issued); err != nil {
		t.Fatal(err)
	}
	environment := processtest.Environment(dynamotest.Endpoint(t), "TOKENS_TABLE="+table)
	got := processtest.Invoke(t, processtest.Build(t, "cmd/authorizer"), environment, `{"headers":{"authorization":"Bearer `+bearer+`"}}`)
	if want := `"verdict":"allow"`; !strings.Contains(got[0], want) {
		t.Errorf("the authorizer answers %s, want %s", got[0], want)
	}
}

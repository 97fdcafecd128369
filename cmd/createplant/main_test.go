package main

import (
	"os"
	"strings"
	"testing"

	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

func TestMain(m *testing.M) { processtest.Main(m, main) }

// Two requests without an Idempotency-Key are two requests, so the second one finds the plant of the first.
func TestRequestsWithoutKey(t *testing.T) {
	_, plants, _ := dynamotest.NewTables(t)
	environment := processtest.Environment(dynamotest.Endpoint(t), "PLANTS_TABLE="+plants)
	event := `{"headers":{"authorization":"Bearer x"},"body":"{\"id\":1,\"name\":\"fern\"}","requestContext":{
		"authorizer":{"lambda":{"verdict":"allow","subject":"alice","token_id":"t1",
		"presented":"` + token.Digest("Bearer x") + `"}}}}`
	got, _ := processtest.Invoke(t, os.Args[0], environment, event)
	if !strings.Contains(got[0], `"statusCode":200`) || !strings.Contains(got[1], `{\"error\":3001,`) {
		t.Errorf("createplant answers %s, want status 200 and the error 3001", got)
	}
}

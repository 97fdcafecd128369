package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/lambdatest"
	"plantstore/internal/token"
)

func TestMain(m *testing.M) { lambdatest.Main(m, main) }

// createplant uses the table that PLANTS_TABLE names. The alarms in template.yaml count its log lines.
func TestPlantInTable(t *testing.T) {
	_, plants, _ := dynamotest.NewTables(t)
	environment := lambdatest.Environment(dynamotest.Endpoint(t), "PLANTS_TABLE="+plants)
	event := `{"headers":{"authorization":"Bearer x"},"body":"{\"id\":1,\"name\":\"fern\"}","requestContext":{
		"authorizer":{"lambda":{"verdict":"allow","subject":"alice","token_id":"t1",
		"header_digest":"` + token.Digest("Bearer x") + `"}}}}`
	answers, log := lambdatest.Invoke(t, os.Args[0], environment, event, event)
	for i, want := range []string{`"statusCode":200`, `{\"error\":3001,`} {
		if got := answers[i].Body; !strings.Contains(got, want) {
			t.Errorf("createplant answers %s, want %s", got, want)
		}
	}
	const want = `"level":"INFO","message":"create plant","commit":"","apigw_request_id":"","code":3001,` +
		`"subject":"alice","token_id":"t1","duration_ms":[0-9.]+,"reason":"plant: id exists","requestId":"lambda-1"}\n`
	if !regexp.MustCompile(want).MatchString(log) {
		t.Errorf("createplant logs %s, want %s", log, want)
	}
}

package function

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

func TestLines(t *testing.T) {
	const header = "Root=1-5759e988-bd862e3fe1be46a994272793;Parent=53995c3f42cd8ad8;Sampled="
	in := func(id, trace string) context.Context {
		ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: id})
		return context.WithValue(ctx, "x-amzn-trace-id", trace) //nolint:staticcheck // as aws-lambda-go sets it
	}
	var written bytes.Buffer
	log := newLog(&written, "b1")
	log.Info("m")
	log = forInvocations(log, time.Now().Add(-time.Second))
	for _, ctx := range []context.Context{in("r1", header+"1"), in("r2", header+"0"), in("r3", ""), t.Context()} {
		log.InfoContext(ctx, "m")
	}
	newLog(&written, "").Info("m")

	lines := json.NewDecoder(&written)
	for i, want := range []map[string]any{
		{"build": "b1"},
		{
			"build": "b1", "lambda_request_id": "r1", "trace_id": "1-5759e988-bd862e3fe1be46a994272793",
			"cold_start": true, "init_ms": 1000.0, "memory_mb": 1.0,
		},
		{"build": "b1", "lambda_request_id": "r2"},
		{"build": "b1", "lambda_request_id": "r3"},
		{"build": "b1"},
		{},
	} {
		var got map[string]any
		if err := lines.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got["timestamp"] == nil {
			t.Errorf("line %d = %v, want its time as timestamp", i, got)
		}
		delete(got, "timestamp")
		for measured, most := range map[string]float64{"init_ms": 60_000, "memory_mb": 1e6} {
			least, wanted := want[measured].(float64)
			if value, ok := got[measured].(float64); wanted && ok && value >= least && value < most {
				got[measured] = least
			}
		}
		want["level"], want["msg"] = "INFO", "m"
		if !maps.Equal(got, want) {
			t.Errorf("line %d has %v, want %v", i, got, want)
		}
	}
}

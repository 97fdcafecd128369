package coldstart

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

const traceID = "1-5759e988-bd862e3fe1be46a994272793"

// line is a line of the log.
type line map[string]any

// invocation returns the context that Lambda gives an invocation.
func invocation(t *testing.T, trace string) context.Context {
	t.Helper()
	ctx := lambdacontext.NewContext(t.Context(), &lambdacontext.LambdaContext{AwsRequestID: "r1"})
	return context.WithValue(ctx, "x-amzn-trace-id", trace) //nolint:staticcheck // as aws-lambda-go sets it
}

// take takes the one line out of what was written, and returns it without its time.
func take(t *testing.T, written *bytes.Buffer) line {
	t.Helper()
	defer written.Reset()
	var got line
	if err := json.Unmarshal(written.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	text, _ := got["timestamp"].(string)
	if _, err := time.Parse(time.RFC3339, text); err != nil {
		t.Errorf("line = %v, want its time as timestamp: %v", got, err)
	}
	delete(got, "timestamp")
	return got
}

// Every line has the name of the build and the id of its invocation, and that of its trace if X-Ray
// samples it. So has a line of a logger that is made of another one.
func TestInvocation(t *testing.T) {
	const header = "Root=" + traceID + ";Parent=53995c3f42cd8ad8;Sampled="
	tests := []struct {
		name string
		ctx  context.Context
		want line // besides what every line has
	}{
		{"a sampled invocation", invocation(t, header+"1"), line{"lambda_request_id": "r1", "trace_id": traceID}},
		{"an invocation that is not sampled", invocation(t, header+"0"), line{"lambda_request_id": "r1"}},
		{"no invocation", t.Context(), line{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var written bytes.Buffer
			log := forInvocations(newLog(&written, "b1"), time.Now())
			log.Info("the first line") // which also has the figures of the cold start
			written.Reset()
			log.With("a", "b").InfoContext(test.ctx, "m")
			want := line{"level": "INFO", "msg": "m", "a": "b", "build": "b1"}
			maps.Copy(want, test.want)
			if got := take(t, &written); !maps.Equal(got, want) {
				t.Errorf("line = %v, want %v", got, want)
			}
		})
	}
}

// The first line has the figures of the cold start. It is written whatever its level, at INFO, because
// Lambda drops lines of DEBUG. No other line has the figures, or is written at DEBUG.
func TestColdStart(t *testing.T) {
	var written bytes.Buffer
	log := forInvocations(newLog(&written, ""), time.Now().Add(-time.Second))
	log.Debug("m")
	first := take(t, &written)
	if first["level"] != "INFO" || first["cold_start"] != true {
		t.Errorf("the first line = %v, want cold_start at INFO", first)
	}
	initialization, _ := first["init_ms"].(float64)
	if initialization < 1000 || initialization > 60_000 {
		t.Errorf("the first line = %v, want about 1000 as init_ms", first)
	}
	memory, _ := first["memory_mb"].(float64)
	if memory < 1 || memory > 1e6 {
		t.Errorf("the first line = %v, want the MiB of a small process as memory_mb", first)
	}
	log.Debug("not written")
	log.Info("m")
	second := take(t, &written)
	want := line{"level": "INFO", "msg": "m"}
	if !maps.Equal(second, want) {
		t.Errorf("the second line = %v, want %v", second, want)
	}
}

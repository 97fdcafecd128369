package function

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"
)

// The first line of an execution environment is written whatever its level, at INFO, because Lambda drops
// lines of DEBUG. Later lines of DEBUG are not written.
func TestFirstLine(t *testing.T) {
	var written bytes.Buffer
	log := forInvocations(newLog(&written, ""), time.Now())
	log.Debug("first")
	log.Debug("second")
	log.Info("third")
	type line struct {
		Msg, Level string
		ColdStart  bool `json:"cold_start"`
	}
	want := []line{{Msg: "first", Level: "INFO", ColdStart: true}, {Msg: "third", Level: "INFO"}}
	lines := json.NewDecoder(&written)
	for _, want := range want {
		var got line
		if err := lines.Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("line = %+v, want %+v", got, want)
		}
	}
	if lines.More() {
		t.Errorf("there are more lines than %v", want)
	}
}

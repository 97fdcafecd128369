package coldstart

import (
	"bytes"
	"log"
	"testing"
)

// What others write by package log is dropped: net/http writes responses there.
func TestOthersLogNothing(t *testing.T) {
	var written bytes.Buffer
	defer log.SetOutput(log.Writer())
	defer log.SetFlags(log.Flags())
	logFatalErrors(newLog(&written, ""))
	log.Print("Unsolicited response received on idle HTTP channel")
	if written.Len() > 0 {
		t.Errorf("log = %s, want nothing", &written)
	}
}

package reliability

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"plantstore/test/runtimeapi"
)

// function is a built function in a process of its own, and what it logged.
type function struct {
	*runtimeapi.Function
	log *buffer
}

// start starts a function with these variables and no others, and waits for the
// end of its initialization.
func start(t *testing.T, binary string, environment ...string) *function {
	t.Helper()
	log := new(buffer)
	f, err := runtimeapi.Start(binary, log, environment...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Stop)
	select {
	case <-f.Ready:
	case <-f.Ended:
	}
	return &function{f, log}
}

// invoke hands event to the function and returns its answer.
func (f *function) invoke(event []byte, timeout time.Duration) (answer, error) {
	response, _, err := f.Invoke(event, timeout)
	if err != nil {
		return answer{}, fmt.Errorf("%w, having logged %s", err, f.log)
	}
	return decode(response)
}

// wait waits for the function to end.
func (f *function) wait(ctx context.Context) error {
	select {
	case <-f.Ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// buffer keeps what several goroutines write.
type buffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

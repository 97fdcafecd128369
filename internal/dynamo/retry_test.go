package dynamo

import (
	"testing"
	"time"
)

// A delay is random, up to a bound that doubles with each retry until it is a second.
func TestDelay(t *testing.T) {
	tests := []struct {
		name  string
		retry int
		bound time.Duration
	}{
		{"the first", 1, 25 * time.Millisecond},
		{"the third", 3, 100 * time.Millisecond},
		{"a late one", 99, time.Second},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			shortest, longest := test.bound, time.Duration(0)
			for range 1000 {
				got := delay(test.retry)
				if got < 0 || got > test.bound {
					t.Fatalf("delay(%d) = %v, want 0 to %v", test.retry, got, test.bound)
				}
				shortest = min(shortest, got)
				longest = max(longest, got)
			}
			if shortest > test.bound/4 || longest < test.bound*3/4 {
				t.Errorf("delay(%d) = %v to %v in 1000 calls, want 0 to %v", test.retry, shortest, longest, test.bound)
			}
		})
	}
}

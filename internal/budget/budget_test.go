package budget

import (
	"testing"
	"time"
)

// Each time is shorter than the next. Two attempts that hang leave time for a third. The last time is API
// Gateway's.
func TestOrder(t *testing.T) {
	tests := []struct {
		name  string
		times []time.Duration
	}{
		{
			name:  "an operation",
			times: []time.Duration{2 * AttemptTimeout, OperationWait, OperationTimeout, 30 * time.Second},
		},
		{
			name:  "the authorizer",
			times: []time.Duration{2 * AttemptTimeout, AuthorizerWait, AuthorizerTimeout, 10 * time.Second},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for i, next := range test.times[1:] {
				if test.times[i] >= next {
					t.Errorf("the times are %v, want each shorter than the next", test.times)
				}
			}
		})
	}
}

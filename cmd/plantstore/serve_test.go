package main

import (
	"os"
	"testing"

	"plantstore/test/processtest"
)

// TOKEN is a client's variable and may hold the token of a deployed stack, so serve ignores it. SERVE_TOKEN is its own.
func TestServeToken(t *testing.T) {
	t.Parallel()
	earlier := processtest.Serve(t, os.Args[0], append(processtest.InMemory(), asCommand)...).Token
	tests := []struct {
		name, variable string
		accepted       bool
	}{
		{name: "the token of a client is ignored", variable: "TOKEN", accepted: false},
		{name: "the token of an earlier run is accepted", variable: "SERVE_TOKEN", accepted: true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			environment := append(processtest.InMemory(), asCommand, test.variable+"="+earlier)
			got := processtest.Serve(t, os.Args[0], environment...).Token
			if accepted := got == earlier; accepted != test.accepted {
				t.Errorf("serve with %s=%s prints the token %s, the same: %t, want %t", test.variable, earlier, got, accepted, test.accepted)
			}
		})
	}
}

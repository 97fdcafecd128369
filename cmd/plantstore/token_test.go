package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// If DynamoDB cannot be reached, a command gives up within ten seconds.
func TestUnreachable(t *testing.T) {
	for name, command := range map[string]interface {
		Run(ctx context.Context, command *tokenCommand) error
	}{
		"issue":  &issueCommand{Subject: "ann", TTL: period(time.Hour)},
		"revoke": &revokeCommand{Words: []string{"SAMPLETOKEN2"}},
		"list":   &listCommand{},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := command.Run(t.Context(), &tokenCommand{connection: connection{EndpointURL: "http://127.0.0.1:1"}})
				took := time.Since(start)
				if !strings.Contains(fmt.Sprint(err), "connection refused") || took < 8*time.Second || took > 10*time.Second {
					t.Errorf("Run = %v after %v, want connection refused after about 10 s", err, took)
				}
			})
		})
	}
}

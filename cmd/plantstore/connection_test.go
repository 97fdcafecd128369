package main

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// At a local DynamoDB, no credentials are needed, and serve creates tables.
func TestIsLocal(t *testing.T) {
	tests := []struct {
		name     string
		endpoint string
		want     bool
	}{
		{name: "a loopback address", endpoint: "http://127.0.0.1:8000", want: true},
		{name: "a loopback address of IPv6", endpoint: "http://[::1]:8000", want: true},
		{name: "localhost", endpoint: "http://localhost:8000", want: true},
		{name: "a container", endpoint: "http://dynamodb:8000", want: true},
		{name: "the machine, from a container", endpoint: "http://host.docker.internal:8000", want: true},
		{name: "https", endpoint: "https://127.0.0.1:8000", want: false},
		{name: "an address of the network", endpoint: "http://192.168.1.2:8000", want: false},
		{name: "AWS under amazonaws.com", endpoint: "http://dynamodb.a-b-1.amazonaws.com", want: false},
		{name: "AWS under api.aws", endpoint: "http://dynamodb.a-b-1.api.aws", want: false},
		{name: "a name that begins as localhost", endpoint: "http://localhost.example:8000", want: false},
		{name: "no endpoint", endpoint: "", want: false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := &connection{EndpointURL: test.endpoint}
			if got := c.isLocal(); got != test.want {
				t.Errorf("isLocal of %s = %t, want %t", test.endpoint, got, test.want)
			}
		})
	}
}

// A command that gets no answer of DynamoDB ends after at most ten seconds. It says where it looked, without a password.
func TestNoAnswer(t *testing.T) {
	const want = `Post "http://127.0.0.1:1/": dial tcp 127.0.0.1:1: connect: connection refused`
	for name, command := range map[string]interface {
		Run(ctx context.Context, command *tokenCommand) error
	}{
		"issue":  &issueCommand{Subject: "ann", TTL: lifetime(time.Hour)},
		"revoke": &revokeCommand{ID: "id"},
		"list":   &listCommand{},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := command.Run(t.Context(), &tokenCommand{connection: connection{EndpointURL: "http://u:secret@127.0.0.1:1"}})
				if took := time.Since(start); !strings.Contains(fmt.Sprint(err), want) || took < 8*time.Second || took > 10*time.Second {
					t.Errorf("Run = %v after %v, want %s after about 10 s", err, took, want)
				}
			})
		})
	}
}

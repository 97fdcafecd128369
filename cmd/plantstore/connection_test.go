package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
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

// A command that gets no answer of DynamoDB ends after ten seconds. It says where it looked, without a password.
func TestNoAnswer(t *testing.T) {
	t.Setenv("AWS_PROFILE", "")
	stranger := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Connection", "close") // no connection may outlive the bubble
		w.WriteHeader(http.StatusNotFound)
	}))
	defer stranger.Close()
	const nowhere = "http://u:secret@127.0.0.1:1"
	const refused = "cannot reach DynamoDB at http://u:xxxxx@127.0.0.1:1: connect: connection refused; is it running?"
	tests := []struct {
		name    string
		command interface {
			Run(ctx context.Context, command *tokenCommand) error
		}
		endpoint string
		want     string
	}{
		{"issue", &issueCommand{Subject: "ann", TTL: lifetime(time.Hour)}, nowhere, refused},
		{"revoke", &revokeCommand{ID: "id"}, nowhere, refused},
		{"list", &listCommand{}, nowhere, refused},
		{"list from another server", &listCommand{}, stranger.URL, "something other than DynamoDB answers at " + stranger.URL},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				err := test.command.Run(t.Context(), &tokenCommand{connection: connection{EndpointURL: test.endpoint}})
				if took := time.Since(start); fmt.Sprint(err) != test.want || took != 10*time.Second {
					t.Errorf("Run = %v after %v, want %s after 10 s", err, took, test.want)
				}
			})
		})
	}
}

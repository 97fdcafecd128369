package main

import (
	"context"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// TOKEN is a client's variable and may hold the token of a deployed stack, so serve ignores it.
// SERVE_TOKEN is its own.
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
			server := processtest.Serve(t, os.Args[0], environment...)
			if printed := server.Token == earlier; printed != test.accepted {
				t.Errorf("serve with %s=%s prints the token %s, the same: %t, want %t", test.variable, earlier, server.Token, printed, test.accepted)
			}
			request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/plants", strings.NewReader(`{"id":1,"name":"fern"}`))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Authorization", "Bearer "+earlier)
			answer, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if accepted := answer.StatusCode == http.StatusOK; accepted != test.accepted {
				t.Errorf("serve with %s=%s answers the token with %d, want that it is accepted: %t", test.variable, earlier, answer.StatusCode, test.accepted)
			}
		})
	}
}

// A server that is told to stop answers the request that it has accepted, and accepts no other.
func TestServeStops(t *testing.T) {
	t.Parallel()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	server := &http.Server{
		ReadTimeout:  10 * time.Second,
		WriteTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
			stop()
			for {
				another, err := new(net.Dialer).DialContext(t.Context(), "tcp", listener.Addr().String())
				if err != nil {
					return // the server accepts no other request
				}
				_ = another.Close()
			}
		}),
	}
	ended := make(chan error)
	go func() { ended <- serve(ctx, server, listener) }()
	answer, err := http.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatalf("GET = %v, want an answer", err)
	}
	_ = answer.Body.Close()
	if err := <-ended; err != nil {
		t.Errorf("serve = %v, want nil", err)
	}
}

package main

import (
	"context"
	"net"
	"net/http"
	"testing"
	"time"

	"plantstore/internal/token"
)

// A server in memory accepts the token of an earlier run.
func TestServeToken(t *testing.T) {
	t.Parallel()
	_, _, earlier, err := new(serveCommand).memoryStores(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, tokens, bearer, err := (&serveCommand{ServeToken: earlier}).memoryStores(t.Context())
	if err != nil || bearer != earlier {
		t.Fatalf("memoryStores = the token %q, %v, want %q", bearer, err, earlier)
	}
	if _, err := (token.Verifier{Store: tokens, Now: time.Now}).Verify(t.Context(), earlier); err != nil {
		t.Errorf("Verify(%q) = %v, want that it is valid", earlier, err)
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

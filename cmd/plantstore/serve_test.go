package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/budget"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/processtest"
)

// A listener is a [net.Listener] in memory, for a server in a bubble of testing/synctest: while a real
// connection waits, the clock of a bubble stands still.
type listener struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newListener() *listener {
	return &listener{dialed: make(chan net.Conn), closed: make(chan struct{})}
}

// dial opens a connection, unless the listener is closed.
func (l *listener) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.dialed <- server:
		return client, nil
	case <-l.closed:
		return nil, syscall.ECONNREFUSED
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case connection := <-l.dialed:
		return connection, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "memory", Net: "pipe"} }

// slowStore takes as long to store a plant as a function may.
type slowStore struct{}

func (slowStore) Create(context.Context, plant.Write) error {
	time.Sleep(budget.OperationTimeout - 1)
	return nil
}

// serving serves on a listener until stop is called. Then it sends the error of serve.
func serving(t *testing.T, l net.Listener, tokens token.Store) (stop func(), ended chan error) {
	t.Helper()
	verifier := token.Verifier{Store: tokens, Now: time.Now}
	server := newServer(slowStore{}, verifier, nil, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended = make(chan error, 1)
	go func() { ended <- serve(ctx, server, l) }()
	return stop, ended
}

// A server that is told to stop answers the request that it has accepted, accepts no other, and ends.
func TestServeStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bearer, issued, err := token.Issue(rand.Reader, "alice", time.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		tokens := new(memory.Tokens)
		if err := tokens.Add(t.Context(), issued); err != nil {
			t.Fatal(err)
		}
		l := newListener()
		stop, ended := serving(t, l, tokens)
		defer l.Close() //nolint:errcheck // serve has closed it
		answered := make(chan int, 1)
		go func() { answered <- create(t, l, bearer) }()
		synctest.Wait() // until the store has the request
		stop()
		synctest.Wait() // until serve waits for the answer
		if len(ended) > 0 {
			t.Errorf("serve ends before the request has its answer")
		}
		if _, err := l.dial(t.Context(), "", ""); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("connecting after the stop = %v, want %v", err, syscall.ECONNREFUSED)
		}
		if status := <-answered; status != http.StatusOK {
			t.Errorf("POST = %d, want 200", status)
		}
		if err := <-ended; err != nil {
			t.Errorf("serve = %v, want nil", err)
		}
	})
}

// create sends a request for a plant and returns the status of the answer, 0 if there is none.
func create(t *testing.T, l *listener, bearer string) int {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DialContext: l.dial, DisableKeepAlives: true}}
	request, err := http.NewRequest(http.MethodPost, "http://plants/plants", strings.NewReader(`{"id":1,"name":"fern"}`))
	if err != nil {
		t.Error(err)
		return 0
	}
	request.Header.Set("Authorization", "Bearer "+bearer)
	response, err := client.Do(request)
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// A client that does not finish its request does not prevent the stop: the server closes its connection.
func TestServeStopsDespiteSilentClients(t *testing.T) {
	tests := []struct{ name, sent string }{
		{name: "no request", sent: ""},
		{name: "half a header", sent: "POST /plants HTTP/1.1\r\nHost:"},
		{name: "half a body", sent: "POST /plants HTTP/1.1\r\nHost: plants\r\nContent-Length: 2\r\n\r\n{"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newListener()
				stop, ended := serving(t, l, new(memory.Tokens))
				client, err := l.dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(client, test.sent); err != nil {
					t.Fatal(err)
				}
				go io.Copy(io.Discard, client) //nolint:errcheck // it ends with the connection
				defer client.Close()           //nolint:errcheck // the server has closed it
				synctest.Wait()                // until the server has read what was sent
				stop()
				if err := <-ended; err != nil {
					t.Errorf("serve = %v, want nil", err)
				}
			})
		})
	}
}

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

// The page has the token only if no other machine can request the page.
func TestPageToken(t *testing.T) {
	tests := []struct{ name, address, want string }{
		{"loopback", "127.0.0.1", "secret"},
		{"another loopback address", "127.1.2.3", "secret"},
		{"loopback of IPv6", "::1", "secret"},
		{"every address", "0.0.0.0", ""},
		{"every address of IPv6", "::", ""},
		{"an address of the network", "192.168.1.2", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := pageToken(&net.TCPAddr{IP: net.ParseIP(test.address)}, "secret")
			if got != test.want {
				t.Errorf("pageToken(%s) = %q, want %q", test.address, got, test.want)
			}
		})
	}
}

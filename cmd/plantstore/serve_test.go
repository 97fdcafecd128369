package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/pipenet"
)

// slowStore takes a second to store a plant.
type slowStore struct{ created atomic.Int32 }

func (s *slowStore) Create(context.Context, plant.Write) error {
	time.Sleep(time.Second)
	s.created.Add(1)
	return nil
}

// serving serves on listener until stop is called. Then it sends the error of serve.
func serving(t *testing.T, listener net.Listener, plants plant.Store, tokens token.Store) (stop func(), ended chan error) {
	t.Helper()
	verifier := token.Verifier{Store: tokens, Now: time.Now}
	server := newServer(plants, verifier, nil, slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	ended = make(chan error)
	go func() { ended <- serve(ctx, server, listener) }()
	return stop, ended
}

// A server that is told to stop answers the requests that it has accepted, and accepts no others.
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
		store := new(slowStore)
		listener := pipenet.Listen()
		stop, ended := serving(t, listener, store, tokens)
		client := &http.Client{Transport: &http.Transport{DialContext: listener.Dial}}
		var created atomic.Int32
		var group sync.WaitGroup
		for id := range 20 {
			group.Go(func() {
				time.Sleep(time.Duration(id) * 100 * time.Millisecond)
				if create(t, client, bearer, id) {
					created.Add(1)
				}
			})
		}
		time.Sleep(950 * time.Millisecond)
		stop()
		if err := <-ended; err != nil {
			t.Errorf("serve = %v, want nil", err)
		}
		group.Wait()
		if created.Load() != 10 {
			t.Errorf("%d clients got their plant, want the 10 that sent their request before the stop", created.Load())
		}
		if store.created.Load() != created.Load() {
			t.Errorf("the store has %d plants, want those of %d clients", store.created.Load(), created.Load())
		}
	})
}

// create sends a request for a plant, and reports whether the server accepts the connection. It then must
// create the plant.
func create(t *testing.T, client *http.Client, bearer string, id int) bool {
	t.Helper()
	body := fmt.Sprintf(`{"id":%d,"name":"fern"}`, id)
	request, err := http.NewRequest(http.MethodPost, "http://plants/plants", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return false
	}
	request.Header.Set("Authorization", "Bearer "+bearer)
	response, err := client.Do(request)
	if errors.Is(err, syscall.ECONNREFUSED) {
		return false
	}
	if err != nil {
		t.Errorf("POST = %v, want a plant or no connection", err)
		return false
	}
	if response.StatusCode != http.StatusOK {
		t.Errorf("POST = %s, want 200", response.Status)
	}
	_ = response.Body.Close()
	return true
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
				listener := pipenet.Listen()
				stop, ended := serving(t, listener, new(memory.Plants), new(memory.Tokens))
				client, err := listener.Dial(t.Context(), "", "")
				if err != nil {
					t.Fatal(err)
				}
				if _, err := io.WriteString(client, test.sent); err != nil {
					t.Fatal(err)
				}
				go io.Copy(io.Discard, client) //nolint:errcheck // it ends with the connection
				stop()
				if err := <-ended; err != nil {
					t.Errorf("serve = %v, want nil", err)
				}
			})
		})
	}
}

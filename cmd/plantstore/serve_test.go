package main

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// A server that is told to stop answers the request that it has accepted, accepts no other, and ends.
func TestServeStops(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t, os.Args[0], append(processtest.InMemory(), asCommand)...)
	address := strings.TrimPrefix(server.URL, "http://")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	client, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close() //nolint:errcheck // the test is over
	const plant = `{"id":1,"name":"fern"}`
	fmt.Fprintf(client, "POST /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer %s\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", server.Token, len(plant))
	answers := bufio.NewReader(client)
	if status := readStatus(t, answers); status != http.StatusContinue {
		t.Fatalf("the server asks for the body with %d, want 100", status)
	}

	go server.Stop() //nolint:errcheck // the end of the test checks it
	for err == nil {
		var another net.Conn
		another, err = new(net.Dialer).DialContext(ctx, "tcp", address)
		if err == nil {
			_ = another.Close()
		}
	}
	if ctx.Err() != nil {
		t.Fatal("the server accepts connections long after the stop")
	}
	fmt.Fprint(client, plant)
	if status := readStatus(t, answers); status != http.StatusOK {
		t.Errorf("POST = %d, want 200", status)
	}
}

// readStatus reads an answer and returns its status.
func readStatus(t *testing.T, answers *bufio.Reader) int {
	t.Helper()
	answer, err := http.ReadResponse(answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	return answer.StatusCode
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

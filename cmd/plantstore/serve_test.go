package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/internal/token"
	"plantstore/test/processtest"
)

// A request that has begun is answered, although the server is stopping.
func TestServeStops(t *testing.T) {
	t.Parallel()
	server := processtest.Serve(t, os.Args[0], asCommand)
	address := strings.TrimPrefix(server.URL, "http://")
	connection, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close() //nolint:errcheck // its answer is enough
	answers := bufio.NewReader(connection)
	fmt.Fprint(connection, "POST /plants HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n")
	if line, err := answers.ReadString('\n'); !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server answers %q, %v, want that it reads the body", line, err)
	}
	server.Stop()
	for err == nil { // until it does not listen any more
		_, err = net.Dial("tcp", address)
	}
	fmt.Fprint(connection, "[]")
	rest, _ := io.ReadAll(answers)
	if !strings.Contains(string(rest), `{"error":2001,`) {
		t.Errorf("the server answers %q, want the error 2001", rest)
	}
}

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

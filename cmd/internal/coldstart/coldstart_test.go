package coldstart

import (
	"bufio"
	"bytes"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
)

// net/http logs a response that nobody asked for, with its text. Nothing of it is in the log. What is
// fatal, the tests of createplant check.
func TestUnsolicitedResponse(t *testing.T) {
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close() //nolint:errcheck // nothing more is accepted
	logged := make(chan struct{})
	go func() {
		defer close(logged)
		connection, err := listener.Accept()
		if err != nil {
			return
		}
		requests := bufio.NewReader(connection)
		if _, err := http.ReadRequest(requests); err != nil {
			return
		}
		const asked, unsolicited = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 canary\r\n\r\n"
		_, _ = io.WriteString(connection, asked+unsolicited)
		_, _ = io.Copy(io.Discard, requests) // the client hangs up after it has logged
	}()
	var written bytes.Buffer
	defer log.SetOutput(log.Writer())
	defer log.SetFlags(log.Flags())
	logFatalErrors(newLog(&written, ""))
	client := &http.Client{Transport: new(http.Transport)}
	answer, err := client.Get("http://" + listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	<-logged
	if written.Len() > 0 {
		t.Errorf("log = %s, want nothing", &written)
	}
}

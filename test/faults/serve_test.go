package reliability

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/dynamo"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// While fifty clients create plants, the server is told to stop: each request is
// answered, or refused without a trace of it; and no answer was a promise that
// the table does not keep.
func TestServeStopsUnderLoad(t *testing.T) {
	client, plants, tokens := dynamotest.Tables(t)
	secret := issue(t, &dynamo.TokenStore{Client: client, Table: tokens})
	binary := processtest.Build(t, "plantstore")
	var id atomic.Int64
	for range processtest.Scale(2, 20) {
		server := processtest.Serve(t, binary, "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
		var group sync.WaitGroup
		var answered atomic.Int64
		enough := make(chan struct{})
		for i := range 50 {
			group.Go(func() {
				// Half of the clients keep their connection, half do not.
				transport := &http.Transport{DisableKeepAlives: i%2 == 0}
				defer transport.CloseIdleConnections()
				for visit(t, &http.Client{Transport: transport}, server.URL, secret, client, plants, id.Add(1)) {
					if answered.Add(1) == 200 {
						close(enough)
					}
				}
			})
		}
		<-enough
		if err := server.Stop(); err != nil {
			t.Errorf("plantstore serve ended with %v, want nil", err)
		}
		group.Wait()
	}
}

// visit creates one plant and reports whether it was answered. A request that was
// not must have left no plant.
func visit(t *testing.T, client *http.Client, url, secret string, direct *dynamodb.Client, table string, id int64) bool {
	p := newPlant(id, fmt.Sprintf("plant %d", id))
	got, failure := post(context.Background(), client, url, secret, p, fmt.Sprintf("key-%d", id))
	there, err := find(context.Background(), direct, table, id)
	if err != nil {
		t.Error(err)
		return false
	}
	if failure != nil && (there != stored{}) {
		t.Errorf("id %d: refused with %v, and yet the plant is stored", id, failure)
	}
	if failure == nil && (got.code != 0 || there.name != p.Name) {
		t.Errorf("id %d: answer = %v while the table holds %+v", id, got, there)
	}
	return failure == nil
}

// Clients that are slow, silent or too wordy are let go, and hold neither others
// nor the end of the server.
func TestServeLetsBadClientsGo(t *testing.T) {
	const head = "POST /plants HTTP/1.1\r\nHost: plants\r\n"
	tests := []struct {
		name string
		send string
		want string // how the answer starts; empty for none
	}{
		{"says nothing", "", ""},
		{"stops within the headers", head, ""},
		{"stops within the body", head + "Content-Length: 100\r\n\r\n{", "HTTP/1.1 408"},
		{"sends too many headers", head + "X: " + strings.Repeat("x", 20_000) + "\r\n\r\n", "HTTP/1.1 431"},
		{"speaks no HTTP", "\x16\x03\x01\x02\x00\x01\r\n\r\n", "HTTP/1.1 400"},
	}
	server := processtest.Serve(t, processtest.Build(t, "plantstore"), processtest.InMemory()...)
	var group sync.WaitGroup
	for _, test := range tests {
		group.Go(func() {
			connection, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
			if err != nil {
				t.Error(err)
				return
			}
			defer connection.Close() //nolint:errcheck // the server has closed it
			if _, err := connection.Write([]byte(test.send)); err != nil {
				t.Error(err)
			}
			if err := connection.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
				t.Error(err)
			}
			answer := readAll(connection)
			if !strings.HasPrefix(answer, test.want) || (test.want == "" && answer != "") {
				t.Errorf("a client that %s: answer = %.40q, want %q", test.name, answer, test.want)
			}
		})
	}
	group.Wait()
}

// readAll returns what comes until the other side closes.
func readAll(connection net.Conn) string {
	var all strings.Builder
	chunk := make([]byte, 4096)
	for {
		n, err := connection.Read(chunk)
		all.Write(chunk[:n])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return "(the connection stays open)"
		}
		if err != nil {
			return all.String()
		}
	}
}

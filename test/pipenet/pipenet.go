// Package pipenet is a network in memory, for tests in a bubble of testing/synctest: while a real
// connection waits, the clock of a bubble stands still.
package pipenet

import (
	"context"
	"net"
	"sync"
	"syscall"
)

// Listener is a [net.Listener] for connections by its method Dial.
type Listener struct {
	dialed chan net.Conn
	closed chan struct{}
	once   sync.Once
}

// Listen returns a listener.
func Listen() *Listener {
	return &Listener{dialed: make(chan net.Conn), closed: make(chan struct{})}
}

// Dial opens a connection. It is for [http.Transport.DialContext]. Once the listener is closed, Dial
// returns [syscall.ECONNREFUSED].
func (l *Listener) Dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.dialed <- server:
		return client, nil
	case <-l.closed:
		return nil, syscall.ECONNREFUSED
	}
}

// Accept implements [net.Listener].
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case connection := <-l.dialed:
		return connection, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements [net.Listener].
func (l *Listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

// Addr implements [net.Listener].
func (l *Listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipenet", Net: "pipe"} }

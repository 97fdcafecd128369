package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

type serveCommand struct {
	connection
	Addr        string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default}). Port 0 selects a free port."`
	PlantsTable string `env:"PLANTS_TABLE" default:"${plants_table}" help:"Table of plants in a local DynamoDB (default ${default}). serve creates it if it does not exist."`
	TokensTable string `env:"TOKENS_TABLE" default:"${tokens_table}" help:"Table of tokens in a local DynamoDB (default ${default}). serve creates it if it does not exist."`
}

// Help implements [kong.HelpProvider]. It describes the variable without a flag.
func (*serveCommand) Help() string {
	return "Without an endpoint, everything is in memory, with one token. A further variable:\n\n" +
		"    SERVE_TOKEN  token of an earlier serve, which the stores in memory accept again"
}

// Run starts a server, prints how to use it, and serves until ctx ends.
func (c *serveCommand) Run(ctx context.Context) error {
	opened, err := c.openStores(ctx)
	if err != nil {
		return err
	}
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	handler := withPage(newHandler(opened.plants, opened.tokens, log))
	listener, err := listen(ctx, c.Addr)
	if err != nil {
		return err
	}
	url := urlOf(listener.Addr())
	fmt.Printf("Plant Store runs at %s, %s. Press Ctrl-C to stop it.\n", url, c.whereStored())
	fmt.Printf("Open %s%s in a browser to read the contract and try it out.\n", url, pagePath)
	c.explainUse(url, opened.bearer)
	return serve(ctx, listener, newServer(handler, log))
}

// inMemory reports whether the stores are in memory, and not on DynamoDB.
func (c *serveCommand) inMemory() bool { return c.EndpointURL == "" }

// newHandler returns the API: the two Lambda functions' handlers behind a gateway.
func newHandler(plants plant.Store, tokens token.Finder, log *slog.Logger) http.Handler {
	return gateway.New(gateway.Options{
		Authorizer: &api.Authorizer{Verifier: token.StoreVerifier{Store: tokens}, Log: log},
		Routes:     api.Routes(),
		Function:   &api.Service{Plants: plants, Log: log, NewKey: rand.Text},
		Log:        log,
	})
}

// listen listens at a HOST:PORT of the command line.
func listen(ctx context.Context, address string) (net.Listener, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if _, malformed := errors.AsType[*net.AddrError](err); malformed {
		return nil, usageError("--addr must be HOST:PORT, for example 127.0.0.1:8081")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot listen on %s (%w); use another --addr (`make run ADDR=127.0.0.1:8081`)", address, err)
	}
	return listener, nil
}

// newServer returns a server of handler, with limits.
func newServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:                      handler,
		DisableGeneralOptionsHandler: true, // an HTTP API has none
		ReadHeaderTimeout:            5 * time.Second,
		ReadTimeout:                  10 * time.Second,
		WriteTimeout:                 20 * time.Second, // 10 s to read the body, 7 s for the functions, and the answer
		IdleTimeout:                  60 * time.Second,
		MaxHeaderBytes:               gateway.MaxHeaderSize - 4096, // to which net/http adds 4096
		ErrorLog:                     slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// serve serves until ctx ends, and then answers the requests that the server has accepted.
func serve(ctx context.Context, listener net.Listener, server *http.Server) error {
	stopped := make(chan error, 1) // nobody reads it if Serve fails
	context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.WithoutCancel(ctx)) })
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

// urlOf returns the URL of a server on this machine. If the server listens at every address, the URL has a
// loopback address, because not every system connects to 0.0.0.0.
func urlOf(listens net.Addr) string {
	host, port, _ := net.SplitHostPort(listens.String()) // an address always has both
	if host == "::" || host == "0.0.0.0" {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// whereStored says where the plants and tokens are.
func (c *serveCommand) whereStored() string {
	if c.inMemory() {
		return "with everything in memory"
	}
	return "on DynamoDB at " + c.printableURL()
}

// explainUse prints how to use the token in memory, or how to issue one on DynamoDB.
func (c *serveCommand) explainUse(url, bearer string) {
	if !c.inMemory() {
		fmt.Printf("\nIssue a token:\n\n  %s token issue --subject NAME --table %s --endpoint-url %s\n\n",
			os.Args[0], c.TokensTable, c.printableURL())
		return
	}
	fmt.Printf(`
Token: %[2]s

Create a plant:

  curl -sS --noproxy '*' -w '\n' %[1]s/plants -H 'Authorization: Bearer %[2]s' `+
		`-H 'Content-Type: application/json' -H 'Idempotency-Key: first' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`, url, bearer)
}

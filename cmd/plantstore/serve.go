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

	"github.com/aws/aws-lambda-go/lambda"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

type serveCommand struct {
	connection
	Addr        string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default}). Port 0 selects a free port."`
	PlantsTable string `env:"PLANTS_TABLE" default:"${plants_table}" help:"Table of plants in a local DynamoDB (default ${default}). serve creates it if it does not exist."`
	TokensTable string `env:"TOKENS_TABLE" default:"${tokens_table}" help:"Table of tokens in a local DynamoDB (default ${default}). serve creates it if it does not exist."`
}

// Help implements [kong.HelpProvider].
func (*serveCommand) Help() string {
	return "Without an endpoint, everything is in memory, with one token. A further variable:\n\n" +
		"    SERVE_TOKEN  token of an earlier serve, which the stores in memory accept again"
}

// Run starts a server, prints how to use it, and serves until ctx ends.
func (c *serveCommand) Run(ctx context.Context) error {
	plants, tokens, bearer, err := c.openStores(ctx)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("%w; use another --addr (`make run ADDR=127.0.0.1:8081`)", err)
	}
	c.greet(urlOf(listener.Addr()), bearer)
	log := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	return serve(ctx, listener, newServer(withPage(newHandler(plants, tokens, log)), log))
}

// openStores returns the stores that the flags select, and the one token that is in memory. In a local DynamoDB it
// creates the tables that do not exist.
func (c *serveCommand) openStores(ctx context.Context) (plants plant.Store, tokens token.Store, bearer string, err error) {
	if c.EndpointURL == "" {
		tokens = new(memory.Tokens)
		bearer, err = addToken(ctx, tokens)
		return new(memory.Plants), tokens, bearer, err
	}
	if !c.isLocal() {
		return nil, nil, "", usageError("serve needs a DynamoDB on this machine, such as --endpoint-url http://127.0.0.1:8000")
	}
	client, err := c.client(ctx, 700*time.Millisecond)
	if err != nil {
		return nil, nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	if err := dynamo.CreateTables(ctx, client, c.PlantsTable, c.TokensTable); err != nil {
		return nil, nil, "", err
	}
	return &dynamo.Plants{Client: client, Table: c.PlantsTable}, &dynamo.Tokens{Client: client, Table: c.TokensTable}, "", nil
}

// addToken adds a token to a store: that of SERVE_TOKEN, or a new one.
func addToken(ctx context.Context, store token.Store) (bearer string, err error) {
	bearer, t, err := token.Issue("developer", time.Now(), 365*24*time.Hour)
	if err != nil {
		return "", err
	}
	if earlier := os.Getenv("SERVE_TOKEN"); earlier != "" {
		id, ok := token.ParseID(earlier)
		if !ok {
			return "", usageError("SERVE_TOKEN is not a token that serve has printed")
		}
		bearer, t.ID, t.Digest = earlier, id, token.Digest(earlier)
	}
	return bearer, store.Add(ctx, t)
}

// newHandler returns the API: the two Lambda functions' handlers behind a gateway.
func newHandler(plants plant.Store, tokens token.Store, log *slog.Logger) http.Handler {
	return &gateway.Gateway{
		Authorizer: &api.Authorizer{Tokens: tokens, Log: log},
		Routes:     map[string]lambda.Handler{"POST /plants": &api.CreatePlant{Plants: plants, Log: log, NewKey: rand.Text}},
		Log:        log,
	}
}

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

// greet prints where the server runs, and how to use the token in memory, or how to issue one on DynamoDB.
func (c *serveCommand) greet(url, bearer string) {
	where, use := "with everything in memory", fmt.Sprintf(`Token: %[2]s

Create a plant:

  curl -sS --noproxy '*' -w '\n' %[1]s/plants -H 'Authorization: Bearer %[2]s' `+
		`-H 'Content-Type: application/json' -H 'Idempotency-Key: first' -d '{"id":1,"name":"Monstera","tag":"indoor"}'`, url, bearer)
	if bearer == "" {
		where, use = "on DynamoDB at "+c.EndpointURL, fmt.Sprintf("Issue a token:\n\n  %s token issue --subject NAME --table %s --endpoint-url %s",
			os.Args[0], c.TokensTable, c.EndpointURL)
	}
	fmt.Printf("Plant Store runs at %s, %s. Press Ctrl-C to stop it.\n", url, where)
	fmt.Printf("Open %s%s in a browser to read the contract and try it out.\n\n%s\n\n", url, pagePath, use)
}

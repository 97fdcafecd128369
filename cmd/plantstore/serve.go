package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"

	"plantstore"
	"plantstore/internal/api"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/token"
)

type serveCommand struct {
	Addr string `default:"127.0.0.1:8080" placeholder:"HOST:PORT" help:"Address to listen on (default ${default})."`
}

// Run starts a server with a new token, prints how to use them, and serves until the process is stopped.
func (c *serveCommand) Run(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return fmt.Errorf("%w; use another --addr (`make run ADDR=127.0.0.1:8081`)", err)
	}
	bearer, t, err := token.Issue("developer", time.Now(), 365*24*time.Hour)
	if err != nil {
		return err
	}
	greet(urlOf(*listener.Addr().(*net.TCPAddr)), bearer)
	log := slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr}))
	return newServer(memory.Tokens{t.ID: t}, log).Serve(listener)
}

// urlOf returns a URL that works on this machine, even if the server listens on all of its addresses.
func urlOf(address net.TCPAddr) string {
	if address.IP.IsUnspecified() {
		address.IP = net.IPv4(127, 0, 0, 1)
	}
	return "http://" + address.String()
}

func greet(url, bearer string) {
	fmt.Printf(`Plant Store runs at %[1]s, with everything in memory. Press Ctrl-C to stop it.
Open %[1]s/docs/ in a browser to read the contract and try it out.

Token: %[2]s

Create a plant:

  curl -sS --noproxy 127.0.0.1 -w '\n' %[1]s/plants -H 'Authorization: Bearer %[2]s' `+
		`-H 'Content-Type: application/json' -H 'Idempotency-Key: first' -d '{"id":1,"name":"Monstera","tag":"indoor"}'

`, url, bearer)
}

func newServer(tokens token.Store, log *slog.Logger) *http.Server {
	g := gateway.New(&api.Authorizer{Tokens: tokens, Log: log}, log)
	for key, function := range api.Routes(new(memory.Plants), log) {
		g.Handle(key, function)
	}
	return &http.Server{
		Handler:                      withDocs(g),
		DisableGeneralOptionsHandler: true, // it would answer OPTIONS * with 200
		ReadHeaderTimeout:            5 * time.Second,
		ReadTimeout:                  10 * time.Second,
		MaxHeaderBytes:               10240 - 4096, // net/http adds 4096, which makes the limit of an HTTP API
	}
}

// withDocs serves the contract and, under /docs/, a web page that shows it. All other requests go to next.
func withDocs(next http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", next)
	toDocs := http.RedirectHandler("/docs/", http.StatusFound)
	mux.Handle("GET /{$}", toDocs)
	mux.Handle("GET /docs", toDocs)
	mux.Handle("GET /docs/", v5emb.NewHandlerWithConfig(swgui.Config{
		Title:       "Plant Store",
		SwaggerJSON: "/openapi.yaml",
		BasePath:    "/docs/",
		SettingsUI:  map[string]string{"docExpansion": `"full"`, "tryItOutEnabled": "true"},
	}))
	mux.HandleFunc("GET /openapi.yaml", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/yaml") // RFC 9512
		_, _ = w.Write(plantstore.OpenAPI)                 // the client may be gone
	})
	return mux
}

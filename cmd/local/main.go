// Command local serves the API on this machine, with everything in memory: the functions that run in Lambda, and a
// stand-in for API Gateway.
package main

import (
	"flag"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"

	"plantstore/internal/api"
	"plantstore/internal/plants"
	"plantstore/internal/tokens"
)

const welcome = `Serving at %[1]s until you press Ctrl-C. Try:

curl -sS -w ' %%{http_code}\n' '%[1]s/plants' -H 'Authorization: Bearer %[2]s' -H 'Content-Type: application/json' -d '{"id":1,"name":"Fern","tag":"indoor"}'

`

func main() {
	address := flag.String("addr", "127.0.0.1:8080", "`host:port` to serve at")
	flag.Parse()
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})))
	if err := run(*address); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(address string) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("%w: choose another address, such as make run ADDR=127.0.0.1:8081", err)
	}
	bearer, token, err := tokens.Issue("developer", 365)
	if err != nil {
		return err
	}
	fmt.Printf(welcome, "http://"+listener.Addr().String(), bearer)
	return http.Serve(listener, api.Gateway{
		Authorizer: api.Authorizer{Tokens: tokens.Memory{token.Digest: token}},
		Routes: map[string]lambda.Handler{
			"POST /plants": plants.Create(&plants.Memory{}),
		},
	})
}

// Command plantstore serves the Plant Store on this machine, and manages bearer tokens in DynamoDB, here or in AWS.
// `plantstore --help` shows examples.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/alecthomas/kong"
)

const description = `Serve the Plant Store on this machine, and manage bearer tokens in DynamoDB, here or in AWS.

    plantstore serve                       # everything in memory; prints a token
    plantstore token issue --stack plant-store-dev --subject alice --ttl 90d
    plantstore token list --stack plant-store-dev --expiring 14d
    plantstore token revoke --stack plant-store-dev - <leaked.txt

Results are printed to standard output, and messages to standard error.`

type commandLine struct {
	Serve serveCommand `cmd:"" help:"Serve the API on this machine, with everything in memory."`
	Token tokenCommand `cmd:"" help:"Issue, list and revoke bearer tokens."`
}

func main() {
	parser := kong.Must(new(commandLine),
		kong.Name("plantstore"),
		kong.Description(description),
		kong.BindTo(context.Background(), (*context.Context)(nil)),
	)
	command, err := parser.Parse(os.Args[1:])
	if wrong, ok := errors.AsType[*kong.ParseError](err); ok && wrong.Context.Selected() != nil {
		err = fmt.Errorf("%w; usage: plantstore %s", err, wrong.Context.Selected().Summary())
	}
	parser.FatalIfErrorf(err)
	command.FatalIfErrorf(command.Run())
}

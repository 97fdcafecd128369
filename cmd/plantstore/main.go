// Command plantstore serves the Plant Store on this machine and administers its
// tokens.
package main

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// commandLine is what plantstore can be told.
type commandLine struct {
	Serve  serveCommand `cmd:"" help:"Serve the API on this machine."`
	Token  tokenCommand `cmd:"" help:"Issue, list and revoke bearer tokens."`
	Tables struct {
		Create createTablesCommand `cmd:"" help:"Create both tables in a local DynamoDB."`
	} `cmd:"" help:"Prepare a local DynamoDB."`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	var line commandLine
	command := kong.Parse(&line,
		kong.Name("plantstore"),
		kong.Description("Plant Store: a service that creates plants, and its tokens."),
		kong.Vars{"plants_table": localPlantsTable, "tokens_table": localTokensTable},
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	command.FatalIfErrorf(command.Run())
}

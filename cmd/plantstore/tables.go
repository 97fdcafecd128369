package main

import (
	"context"
	"fmt"

	"plantstore/internal/dynamo"
)

// Names of the tables in a local DynamoDB. In AWS, CloudFormation chooses them.
const (
	localPlantsTable = "plants"
	localTokensTable = "tokens"
)

type createTablesCommand struct {
	connection
	PlantsTable string `env:"PLANTS_TABLE" default:"${plants_table}" help:"Table of plants (default ${default})."`
	TokensTable string `env:"TOKENS_TABLE" default:"${tokens_table}" help:"Table of tokens (default ${default})."`
}

// Run creates the tables that do not exist yet.
func (c *createTablesCommand) Run(ctx context.Context) error {
	if c.EndpointURL == "" {
		return usageError("tables create is for a local DynamoDB: set --endpoint-url; in AWS, `sam deploy` creates them")
	}
	if c.PlantsTable == c.TokensTable {
		return usageError("--plants-table and --tokens-table must be different")
	}
	ctx, cancel := context.WithTimeout(ctx, operationTimeout)
	defer cancel()
	client, err := c.client(ctx, attemptTimeout)
	if err != nil {
		return err
	}
	if err := dynamo.CreateTables(ctx, client, c.PlantsTable, c.TokensTable); err != nil {
		return c.explain(err, c.PlantsTable)
	}
	fmt.Printf("Tables %s and %s exist.\n", c.PlantsTable, c.TokensTable)
	return nil
}

package main

import (
	"context"
	"os"
	"time"

	"plantstore/internal/budget"
	"plantstore/internal/dynamo"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// stores are where plants and tokens are.
type stores struct {
	plants plant.Store
	tokens token.Store
	bearer string // the one token in memory; empty on DynamoDB
}

// openStores returns the stores that the flags select. In a local DynamoDB it creates the tables that do not
// exist.
func (c *serveCommand) openStores(ctx context.Context) (stores, error) {
	switch {
	case c.inMemory() && (c.PlantsTable != dynamo.LocalPlantsTable || c.TokensTable != dynamo.LocalTokensTable):
		return stores{}, usageError("--plants-table and --tokens-table need --endpoint-url: without it, everything is in memory")
	case c.inMemory():
		return memoryStores(ctx)
	case !c.isLocal():
		return stores{}, usageError("serve needs a DynamoDB on this machine, such as --endpoint-url http://127.0.0.1:8000")
	case c.PlantsTable == c.TokensTable:
		return stores{}, usageError("--plants-table and --tokens-table must be different")
	}
	client, err := c.client(ctx, budget.AttemptTimeout)
	if err != nil {
		return stores{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	if err := dynamo.CreateTables(ctx, client, c.PlantsTable, c.TokensTable); err != nil {
		return stores{}, c.explain(err, c.PlantsTable)
	}
	return stores{
		plants: &dynamo.Plants{Client: client, Table: c.PlantsTable},
		tokens: &dynamo.Tokens{Client: client, Table: c.TokensTable},
	}, nil
}

// memoryStores returns stores in memory, with one token and no plant.
func memoryStores(ctx context.Context) (stores, error) {
	bearer, issued, err := token.Issue("developer", time.Now(), 365*24*time.Hour)
	if err != nil {
		return stores{}, err
	}
	if earlier := os.Getenv("SERVE_TOKEN"); earlier != "" {
		id, ok := token.ParseID(earlier)
		if !ok {
			return stores{}, usageError("SERVE_TOKEN is not a token that serve has printed")
		}
		bearer = earlier
		issued.ID = id
		issued.Digest = token.Digest(earlier)
	}
	s := stores{plants: new(memory.Plants), tokens: new(memory.Tokens), bearer: bearer}
	return s, s.tokens.Add(ctx, issued)
}

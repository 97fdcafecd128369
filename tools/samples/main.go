// Command samples prepares the DynamoDB Local of `make dynamodb` for `sam local`: it creates both tables, stores the
// token of the sample events in events/, and waits. The token is not secret, because it is in this repository.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
)

const sampleToken = "pst_SAMPLETOKEN2NOTSECRETINTHISFOLDER22222d2874592"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	client := dynamo.NewLocalClient(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"))
	// Under sam local, a table's name is its name in template.yaml.
	if err := dynamo.CreateTables(ctx, client, "PlantsTable", "TokensTable"); err != nil {
		return err
	}
	tokens := &dynamo.Tokens{Client: client, Table: "TokensTable"}
	if err := tokens.Add(ctx, newSample()); err != nil {
		return err
	}
	fmt.Println(`DynamoDB Local is running. Ctrl-C stops it, and discards its data. In a second terminal:

  . ~/.venvs/plant-store/bin/activate
  sam build
  sam local start-api

Once SAM prints "Running on", create a plant from a third:

  curl -sS --noproxy 127.0.0.1 -w '\n' http://127.0.0.1:3000/plants -H 'Authorization: Bearer ` + sampleToken +
		`' -H 'Content-Type: application/json' -H 'Idempotency-Key: first' -d '{"id":1,"name":"Monstera","tag":"indoor"}'`)
	<-ctx.Done()
	return nil
}

func newSample() token.Token {
	id, _ := token.ParseID(sampleToken)
	now := time.Now().UTC().Truncate(time.Second)
	return token.Token{
		ID: id, Digest: token.Digest(sampleToken), Subject: "alice", CreatedAt: now, ExpiresAt: now.AddDate(0, 1, 0),
	}
}

// Command sample prepares DynamoDB Local for sam local: it creates both tables, stores the token of the sample events, and
// waits. The token is not secret, since it is in this repository.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/dynamo"
	"plantstore/internal/tokens"
)

const (
	sampleToken = "pst_SAMPLETOKENFORSAMLOCALONLY"
	welcome     = `DynamoDB Local is running, until you press Ctrl-C. In a second terminal:

sam build && sam local start-api

And once that prints "Running on", in a third:

curl -sS -w ' %{http_code}\n' http://127.0.0.1:3000/plants -H 'Authorization: Bearer ` + sampleToken +
		`' -H 'Content-Type: application/json' -d '{"id":1,"name":"Fern","tag":"indoor"}'

`
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := prepare(ctx)
	if err == nil {
		fmt.Print(welcome)
		<-ctx.Done()
	}
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// prepare gives the tables the names that sam local gives the functions: those in template.yaml.
func prepare(ctx context.Context) error {
	client := dynamo.NewLocal(os.Getenv("AWS_ENDPOINT_URL_DYNAMODB"))
	now := time.Now().UTC().Truncate(time.Second)
	sample := tokens.Token{
		Digest: tokens.Digest(sampleToken), Subject: "alice", CreatedAt: now, ExpiresAt: now.AddDate(1, 0, 0),
	}
	if err := dynamo.CreateTable(ctx, client, "PlantsTable", "id", types.ScalarAttributeTypeN); err != nil {
		return err
	}
	if err := dynamo.CreateTable(ctx, client, "TokensTable", "digest", types.ScalarAttributeTypeS); err != nil {
		return err
	}
	return tokens.Table{Client: client, Name: "TokensTable"}.Add(ctx, sample)
}

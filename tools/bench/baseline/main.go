// Command baseline creates a plant in the usual way: the SDK's default configuration, the typed events of
// aws-lambda-go, and encoding/json. It has none of the service's checks and logs, and only the SDK's own retries.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/dynamodb/attributevalue"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

type plant struct {
	ID   int64   `json:"id" dynamodbav:"id"`
	Name string  `json:"name" dynamodbav:"name"`
	Tag  *string `json:"tag,omitempty" dynamodbav:"tag,omitempty"`
}

func main() {
	cfg, err := config.LoadDefaultConfig(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	client, table := dynamodb.NewFromConfig(cfg), os.Getenv("PLANTS_TABLE")
	lambda.Start(func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (r events.APIGatewayV2HTTPResponse, err error) {
		var p plant
		if err := json.Unmarshal([]byte(event.Body), &p); err != nil {
			return r, err
		}
		item, err := attributevalue.MarshalMap(p)
		if err != nil {
			return r, err
		}
		put := dynamodb.PutItemInput{TableName: &table, Item: item, ConditionExpression: aws.String("attribute_not_exists(id)")}
		if _, err := client.PutItem(ctx, &put); err != nil {
			return r, err
		}
		body, err := json.Marshal(p)
		r.StatusCode = 200
		r.Body = string(body)
		r.Headers = map[string]string{"content-type": "application/json"}
		return r, err
	})
}

// Command baseline creates a plant in the default way: the SDK's configuration
// with its defaults, the typed events of aws-lambda-go, encoding/json. It has
// none of the service's checks, retries and logs. The benchmark holds the
// service against it.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
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
	lambda.Start(func(ctx context.Context, event events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
		var p plant
		if err := json.Unmarshal([]byte(event.Body), &p); err != nil {
			const invalid = `{"error":1,"message":"invalid"}`
			return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusBadRequest, Body: invalid}, nil //nolint:nilerr
		}
		item, err := attributevalue.MarshalMap(p)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
		_, err = client.PutItem(ctx, &dynamodb.PutItemInput{
			TableName:           &table,
			Item:                item,
			ConditionExpression: aws.String("attribute_not_exists(id)"),
		})
		if err != nil {
			return events.APIGatewayV2HTTPResponse{}, err
		}
		body, err := json.Marshal(p)
		return events.APIGatewayV2HTTPResponse{
			StatusCode: http.StatusOK,
			Headers:    map[string]string{"content-type": "application/json"},
			Body:       string(body),
		}, err
	})
}

// Command empty is a Lambda function that does nothing, for the benchmark to compare the others with.
package main

import (
	"context"

	"github.com/aws/aws-lambda-go/lambda"
)

type handler struct{}

func (handler) Invoke(context.Context, []byte) ([]byte, error) { //nolint:unparam // aws-lambda-go's interface
	return []byte(`{"statusCode":200}`), nil
}

func main() { lambda.Start(handler{}) }

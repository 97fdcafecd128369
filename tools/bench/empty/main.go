// Command empty is a Lambda function that does nothing, for the benchmark to compare the others with.
package main

import "github.com/aws/aws-lambda-go/lambda"

func main() {
	lambda.Start(func() (map[string]int, error) { return map[string]int{"statusCode": 200}, nil })
}

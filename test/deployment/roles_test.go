package deployment

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"
)

// checkRoles checks what each function of staging may do on the tables, with the credentials that its process has.
func (local localAWS) checkRoles(t *testing.T) {
	t.Helper()
	resources := local.resources(t, staging)
	may := map[string]bool{"CreatePlantFunction PutItem PlantsTable": true, "AuthorizerFunction GetItem TokensTable": true}
	for _, function := range []string{"CreatePlantFunction", "AuthorizerFunction"} {
		client := local.client(processOf(t, resources[function]))
		for _, table := range []string{"PlantsTable", "TokensTable"} {
			name := aws.String(resources[table])
			// An allowed call without a valid key changes nothing: it fails for another reason.
			key := map[string]types.AttributeValue{"none": &types.AttributeValueMemberS{Value: "x"}}
			for operation, call := range map[string]func() error{
				"GetItem": func() error {
					_, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: name, Key: key})
					return err
				},
				"PutItem": func() error {
					_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: name, Item: key})
					return err
				},
				"UpdateItem": func() error {
					_, err := client.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{TableName: name, Key: key})
					return err
				},
				"DeleteItem": func() error {
					_, err := client.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: name, Key: key})
					return err
				},
				"Query": func() error { _, err := client.Query(t.Context(), &dynamodb.QueryInput{TableName: name}); return err },
				"Scan":  func() error { _, err := client.Scan(t.Context(), &dynamodb.ScanInput{TableName: name}); return err },
				"DeleteTable": func() error {
					_, err := client.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: name})
					return err
				},
			} {
				err := call()
				denial, ok := errors.AsType[smithy.APIError](err)
				denied := ok && denial.ErrorCode() == "AccessDeniedException"
				if want := !may[function+" "+operation+" "+table]; denied != want {
					t.Errorf("%s of %s by %s = %v, want denied = %t", operation, table, function, err, want)
				}
			}
		}
	}
}

// processOf returns the variables of the process that runs a function.
func processOf(t *testing.T, function string) map[string]string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(content), "AWS_LAMBDA_FUNCTION_NAME="+function+"\x00") {
			continue // another process, which may have ended
		}
		variables := map[string]string{}
		for variable := range strings.SplitSeq(string(content), "\x00") {
			name, value, _ := strings.Cut(variable, "=")
			variables[name] = value
		}
		return variables
	}
	t.Fatalf("no process runs %s", function)
	return nil
}

// client returns a client of the local DynamoDB with a function's credentials.
func (local localAWS) client(function map[string]string) *dynamodb.Client {
	return dynamodb.New(dynamodb.Options{
		BaseEndpoint: aws.String("http://127.0.0.1:" + local.port),
		Region:       function["AWS_REGION"],
		Credentials: credentials.NewStaticCredentialsProvider(
			function["AWS_ACCESS_KEY_ID"], function["AWS_SECRET_ACCESS_KEY"], function["AWS_SESSION_TOKEN"]),
		RetryMaxAttempts: 1,
	})
}

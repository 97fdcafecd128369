package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/test/processtest"
)

// TestRoutes checks that the API has the routes of the service.
func TestRoutes(t *testing.T) {
	got := slices.Sorted(maps.Keys(functions(t)))
	if want := api.Routes(); !slices.Equal(got, want) {
		t.Errorf("the API has the routes %v, and internal/api %v: see the functions' Events in template.yaml", got, want)
	}
}

// functions returns the function of each route of the API.
func functions(t *testing.T) map[string]string {
	t.Helper()
	type api struct {
		Body struct {
			Paths map[string]map[string]struct { // by path and method
				Integration struct{ URI string } `json:"x-amazon-apigateway-integration"`
			}
		}
	}
	found := map[string]string{}
	for path, methods := range resources[api](t, production(t), "AWS::ApiGatewayV2::Api")["HttpApi"].Body.Paths {
		for method, operation := range methods {
			_, function, _ := strings.Cut(operation.Integration.URI, "/functions/${")
			found[strings.ToUpper(method)+" "+path], _, _ = strings.Cut(function, "Aliaslive}")
		}
	}
	return found
}

// TestFunctionsRefuse checks that each function with a route, as built, refuses a request without a verdict,
// because the gateway lets every request pass.
func TestFunctionsRefuse(t *testing.T) {
	for route, name := range functions(t) {
		t.Run(name, func(t *testing.T) {
			binary := processtest.Build(t, "cmd/"+strings.ToLower(strings.TrimSuffix(name, "Function")))
			environment := processtest.Environment("http://127.0.0.1:1", "PLANTS_TABLE=plants", "TOKENS_TABLE=tokens")
			event := fmt.Sprintf(`{"version":"2.0","routeKey":%q,"headers":{"authorization":"Bearer token"}}`, route)
			answered := processtest.Invoke(t, binary, environment, event)[0]
			var answer struct{ Body string }
			err := json.Unmarshal([]byte(answered), &answer)
			if err != nil || !strings.Contains(answer.Body, `"error":5001`) {
				t.Errorf("answer = %s, %v, want error 5001, as of api.Service", answered, err)
			}
		})
	}
}

// TestTableKeys checks that each table has the key that internal/dynamo uses.
func TestTableKeys(t *testing.T) {
	type table struct {
		AttributeDefinitions []struct{ AttributeName, AttributeType string }
		KeySchema            []struct{ AttributeName, KeyType string }
	}
	tables := resources[table](t, production(t), "AWS::DynamoDB::Table")
	for _, want := range dynamo.Tables("PlantsTable", "TokensTable") {
		got := fmt.Sprint(tables[want.Name])
		if key := fmt.Sprintf("{[{%s %s}] [{%s HASH}]}", want.Key, want.KeyType, want.Key); got != key {
			t.Errorf("%s has the key %s, want %s", want.Name, got, key)
		}
	}
}

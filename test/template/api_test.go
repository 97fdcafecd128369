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
	var paths map[string]map[string]struct {
		Integration struct{ URI string } `json:"x-amazon-apigateway-integration"`
	}
	if err := json.Unmarshal([]byte(production(t).Nodes["HttpApi.Body.paths"]), &paths); err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for path, methods := range paths {
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

// TestAllowedTypes checks that the stack has only resources and properties that open no way past the authorizer,
// and no other way to the data: no function URL, no permission for another service, no policy and no stream of
// a table.
func TestAllowedTypes(t *testing.T) {
	s := production(t)
	known := map[string]string{
		"AWS::ApiGatewayV2::Api":        "Body",
		"AWS::ApiGatewayV2::ApiMapping": "ApiId DomainName Stage",
		"AWS::ApiGatewayV2::DomainName": "DomainName DomainNameConfigurations",
		"AWS::ApiGatewayV2::Stage":      "AccessLogSettings ApiId AutoDeploy DefaultRouteSettings StageName Tags",
		"AWS::CloudWatch::Alarm": "AlarmActions AlarmDescription ComparisonOperator DatapointsToAlarm EvaluationPeriods Metrics " +
			"MetricName Namespace OKActions Period Statistic Threshold TreatMissingData",
		"AWS::CloudWatch::Dashboard":       "DashboardBody DashboardName",
		"AWS::CodeDeploy::Application":     "ComputePlatform",
		"AWS::CodeDeploy::DeploymentGroup": "AlarmConfiguration ApplicationName AutoRollbackConfiguration DeploymentConfigName DeploymentStyle ServiceRoleArn",
		"AWS::DynamoDB::Table": "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema OnDemandThroughput " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		"AWS::IAM::Role":     "AssumeRolePolicyDocument ManagedPolicyArns PermissionsBoundary Policies",
		"AWS::Lambda::Alias": "FunctionName FunctionVersion Name",
		"AWS::Lambda::Function": "Architectures Code Description Environment Handler LoggingConfig MemorySize " +
			"ReservedConcurrentExecutions Role Runtime Tags Timeout",
		"AWS::Lambda::Permission": "Action FunctionName Principal SourceArn",
		"AWS::Lambda::Version":    "Description FunctionName",
		"AWS::Logs::LogGroup":     "LogGroupName RetentionInDays",
		"AWS::Logs::MetricFilter": "FilterPattern LogGroupName MetricTransformations",
	}
	for name, resource := range s.Resources {
		for property := range properties[object](t, s, resource.Type)[name] {
			if !slices.Contains(strings.Fields(known[resource.Type]), property) {
				t.Errorf("%s, a %s, has a %s: if that lets nothing in or out, allow it in this test", name, resource.Type, property)
			}
		}
	}
}

// TestKeys checks that each table has the key that internal/dynamo uses.
func TestKeys(t *testing.T) {
	for _, table := range dynamo.Tables("PlantsTable", "TokensTable") {
		production(t).Nodes.check(t, []value{
			{table.Name, "AttributeDefinitions", fmt.Sprintf(`[{"AttributeName":%q,"AttributeType":%q}]`, table.Key, table.KeyType)},
			{table.Name, "KeySchema", fmt.Sprintf(`[{"AttributeName":%q,"KeyType":"HASH"}]`, table.Key)},
		}, nil)
	}
}

// Package template checks what no linter sees in template.yaml: who may do what, and what other files must agree with.
package template

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
	"plantstore/internal/budget"
	"plantstore/internal/dynamo"
	"plantstore/test/processtest"
)

// resources returns the resources of a type, or all. A reference such as !GetAtt X.Arn is the text X.Arn.
func resources(t *testing.T, of string) map[string]any {
	t.Helper()
	content, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template any
	if err := yaml.Unmarshal(content, &template); err != nil {
		t.Fatal(err)
	}
	found, _ := at(template, "Resources").(map[string]any)
	maps.DeleteFunc(found, func(_ string, r any) bool { return of != "" && at(r, "Type") != of })
	if len(found) == 0 {
		t.Fatalf("the template has no %s", of)
	}
	return found
}

// at returns the value at a path such as Properties.Role, or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func names(object any) []string {
	members, _ := object.(map[string]any)
	return slices.Sorted(maps.Keys(members))
}

// expect compares a value with one that is written in YAML.
func expect(t *testing.T, what string, got any, want string) {
	t.Helper()
	var wanted any
	if err := yaml.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("%s is %v, want %v", what, got, wanted)
	}
}

const functionType = "AWS::Serverless::Function"

// Whoever takes over a function has its few rights and no others, and no function has a role of another.
func TestRoles(t *testing.T) {
	rights := map[string][2]string{ // the action and the table
		"CreatePlantRole": {"dynamodb:PutItem", "PlantsTable"},
		"AuthorizerRole":  {"dynamodb:GetItem", "TokensTable"},
	}
	for name, role := range resources(t, "AWS::IAM::Role") {
		allowed, isListed := rights[name]
		if !isListed {
			t.Errorf("%s is a new role: if its rights are as few as they can be, add it to rights", name)
		}
		expect(t, name, at(role, "Properties"), fmt.Sprintf(`{
			AssumeRolePolicyDocument: {Version: '2012-10-17', Statement: [{Effect: Allow, Principal: {Service: lambda.amazonaws.com}, Action: sts:AssumeRole}]},
			Policies: [{PolicyName: function, PolicyDocument: {Version: '2012-10-17', Statement: [
				{Effect: Allow, Action: %s, Resource: %s.Arn},
				{Effect: Allow, Action: [logs:CreateLogStream, logs:PutLogEvents], Resource: Log.Arn}]}}]}`, allowed[0], allowed[1]))
	}
	for name, function := range resources(t, functionType) {
		expect(t, "the role of "+name, at(function, "Properties.Role"), strings.TrimSuffix(name, "Function")+"Role.Arn")
	}
}

// The stack has no resource, and its functions and tables have no property, that opens another way to the data, such as
// a function URL, a policy or a stream.
func TestNoOtherWay(t *testing.T) {
	types := []string{
		functionType, "AWS::Serverless::HttpApi", "AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::DomainName", "AWS::CloudWatch::Alarm",
		"AWS::CloudWatch::Dashboard", "AWS::DynamoDB::Table", "AWS::IAM::Role", "AWS::Logs::LogGroup", "AWS::Logs::MetricFilter",
	}
	properties := map[string][]string{
		functionType: {"AutoPublishAliasAllProperties", "Description", "Environment", "Events", "Role", "Timeout", "VersionDescription"},
		"AWS::DynamoDB::Table": {
			"AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled", "KeySchema", "OnDemandThroughput",
			"PointInTimeRecoverySpecification", "TimeToLiveSpecification",
		},
	}
	for name, resource := range resources(t, "") {
		kind, _ := at(resource, "Type").(string)
		if !slices.Contains(types, kind) {
			t.Errorf("%s is a %s: if that lets nothing in or out, add it to types", name, kind)
		}
		for _, property := range names(at(resource, "Properties")) {
			if allowed := properties[kind]; allowed != nil && !slices.Contains(allowed, property) {
				t.Errorf("%s has %s: if that lets nothing in or out, add it to properties", name, property)
			}
		}
	}
}

// The API has the routes of the service. Each goes through the authorizer, which runs for every request.
func TestRoutes(t *testing.T) {
	var got []string
	for name, function := range resources(t, functionType) {
		for _, event := range names(at(function, "Properties.Events")) {
			properties := at(function, "Properties.Events."+event+".Properties")
			if fmt.Sprint(names(properties)) != "[ApiId Method Path]" {
				t.Errorf("%s has the event %v, want no Auth of its own", name, properties)
			}
			got = append(got, fmt.Sprint(at(properties, "Method"), " ", at(properties, "Path")))
		}
	}
	slices.Sort(got)
	if want := api.Routes(); !slices.Equal(got, want) {
		t.Errorf("the API has the routes %v, and internal/api %v: see the functions' Events in template.yaml", got, want)
	}
	expect(t, "Auth", at(resources(t, "")["HttpApi"], "Properties.Auth"), `{DefaultAuthorizer: TokenAuthorizer, Authorizers: {TokenAuthorizer: {
		FunctionArn: '${AuthorizerFunction.Arn}:live', EnableFunctionDefaultPermissions: true, AuthorizerPayloadFormatVersion: '2.0',
		EnableSimpleResponses: true, Identity: {Context: [routeKey], ReauthorizeEvery: 0}}}}`)
}

// Each function with a route, as built, refuses a request without a verdict, because the gateway lets every request pass.
func TestFunctionsRefuse(t *testing.T) {
	for name, function := range resources(t, functionType) {
		for _, event := range names(at(function, "Properties.Events")) {
			properties := at(function, "Properties.Events."+event+".Properties")
			binary := processtest.Build(t, "cmd/"+strings.ToLower(strings.TrimSuffix(name, "Function")))
			environment := processtest.Environment("http://127.0.0.1:1", "PLANTS_TABLE=plants")
			sent := fmt.Sprintf(`{"version":"2.0","routeKey":"%v %v","headers":{"authorization":"Bearer token"}}`, at(properties, "Method"), at(properties, "Path"))
			answered := processtest.Invoke(t, binary, environment, sent)[0]
			var answer struct{ Body string }
			if err := json.Unmarshal([]byte(answered), &answer); err != nil || !strings.Contains(answer.Body, `"error":5001`) {
				t.Errorf("%s answers %s, %v, want error 5001, as of api.Service", name, answered, err)
			}
		}
	}
}

// Lambda stops a function at its timeout in package budget. Every change of a function publishes a version, also that of
// a parameter alone: the version's description names those that it reads. ErrorsAlarm reads its crashes.
func TestFunctions(t *testing.T) {
	counted := fmt.Sprint(at(resources(t, "")["ErrorsAlarm"], "Properties.Metrics"))
	for name, function := range resources(t, functionType) {
		want := budget.OperationTimeout
		if name == "AuthorizerFunction" {
			want = budget.AuthorizerTimeout
		}
		if seconds, _ := at(function, "Properties.Timeout").(int); time.Duration(seconds)*time.Second != want {
			t.Errorf("%s is stopped after %d s, want %v", name, seconds, want)
		}
		expect(t, "AutoPublishAliasAllProperties of "+name, at(function, "Properties.AutoPublishAliasAllProperties"), "true")
		description := fmt.Sprint(at(function, "Properties.VersionDescription"))
		for _, parameter := range []string{"Memory", "TokenIssuer", "TokenAudience"} {
			isRead := parameter == "Memory" || strings.Contains(fmt.Sprint(at(function, "Properties.Environment")), parameter)
			if isRead != strings.Contains(description, parameter) {
				t.Errorf("%s reads %s = %t, and its version has the description %s", name, parameter, isRead, description)
			}
		}
		if !strings.Contains(counted, "Value:"+name+"]") {
			t.Errorf("ErrorsAlarm reads %s, want also the crashes of %s", counted, name)
		}
	}
}

// Each table has the key that internal/dynamo uses. The data stay when the stack or a table goes.
func TestTables(t *testing.T) {
	tables := resources(t, "AWS::DynamoDB::Table")
	for _, want := range dynamo.Tables("PlantsTable", "TokensTable") {
		table := tables[want.Name]
		expect(t, want.Name, at(table, "Properties.AttributeDefinitions"), fmt.Sprintf(`[{AttributeName: %s, AttributeType: '%s'}]`, want.Key, want.KeyType))
		expect(t, want.Name, at(table, "Properties.KeySchema"), fmt.Sprintf(`[{AttributeName: %s, KeyType: HASH}]`, want.Key))
		expect(t, want.Name, at(table, "DeletionPolicy"), "RetainExceptOnCreate")
		expect(t, want.Name, at(table, "UpdateReplacePolicy"), "Retain")
		expect(t, want.Name, at(table, "Properties.DeletionProtectionEnabled"), "[IsProduction, true, false]")
		expect(t, want.Name, at(table, "Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled"), "true")
	}
}

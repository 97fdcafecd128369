// Package template checks what no linter sees in template.yaml: who may do what, and what other files must agree with.
package template

import (
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/dynamo"
	"plantstore/test/processtest"
)

// section returns a part of the template, such as Resources. A reference such as !GetAtt X.Arn is the text X.Arn.
func section(t *testing.T, name string) map[string]any {
	t.Helper()
	content, err := os.ReadFile("../../template.yaml")
	var template map[string]any
	if err := errors.Join(err, yaml.Unmarshal(content, &template)); err != nil {
		t.Fatal(err)
	}
	return template[name].(map[string]any)
}

// functions returns the properties of each function.
func functions(t *testing.T) map[string]any {
	found := map[string]any{}
	for name, resource := range section(t, "Resources") {
		if at(resource, "Type") == "AWS::Serverless::Function" {
			found[name] = at(resource, "Properties")
		}
	}
	return found
}

// at returns the value at a path such as Properties.Timeout, or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// expect compares the value at a path with one that is written in YAML.
func expect(t *testing.T, object any, path, want string) {
	t.Helper()
	var wanted any
	err := yaml.Unmarshal([]byte(want), &wanted)
	if got := at(object, path); err != nil || fmt.Sprint(got) != fmt.Sprint(wanted) {
		t.Errorf("%s is %v, want %v", path, got, wanted)
	}
}

// Each function may do one thing with one table. Lambda stops it at this time. Every change of it
// publishes a version. ErrorsAlarm counts its crashes.
func TestFunctions(t *testing.T) {
	counted := fmt.Sprint(at(section(t, "Resources"), "ErrorsAlarm.Properties.Metrics"))
	for name, function := range functions(t) {
		action, table, timeout := "dynamodb:PutItem", "PlantsTable", 4*time.Second
		if name == "AuthorizerFunction" {
			action, table, timeout = "dynamodb:GetItem", "TokensTable", 3*time.Second
		}
		expect(t, function, "Policies", fmt.Sprintf("[{Statement: [{Effect: Allow, Action: '%s', Resource: %s.Arn}]}]", action, table))
		expect(t, function, "Timeout", fmt.Sprint(int(timeout/time.Second)))
		expect(t, function, "AutoPublishAliasAllProperties", "true")
		expect(t, function, "VersionDescription", table)
		if !strings.Contains(counted, "Value:"+name+"]") {
			t.Errorf("ErrorsAlarm reads %s, want also the crashes of %s", counted, name)
		}
	}
}

// No resource, and no property of a function, a table or the topic, opens another way in or out, such as a function URL,
// a policy or a stream.
func TestNoOtherWay(t *testing.T) {
	known := map[string]string{ // types and their properties; "" means any
		"AWS::Serverless::Function": "AutoPublishAliasAllProperties Description Environment Events Policies Timeout VersionDescription",
		"AWS::DynamoDB::Table": "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema OnDemandThroughput " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		"AWS::SNS::Topic": "Subscription", "AWS::Serverless::HttpApi": "", "AWS::CloudWatch::Alarm": "", "AWS::CloudWatch::Dashboard": "", "AWS::Logs::LogGroup": "", "AWS::Logs::MetricFilter": "",
	}
	for name, resource := range section(t, "Resources") {
		properties, isKnown := known[fmt.Sprint(at(resource, "Type"))]
		for property := range at(resource, "Properties").(map[string]any) {
			if !isKnown || properties != "" && !slices.Contains(strings.Fields(properties), property) {
				t.Errorf("%s, a %v, has %s: if that lets nothing in or out, add it to known", name, at(resource, "Type"), property)
			}
		}
	}
}

// The API has the routes of the service. Each goes through the authorizer, which runs for every request, and lets it
// pass. So the function of each route, as built, refuses a request without a verdict.
func TestRoutes(t *testing.T) {
	var routes []string
	for name, function := range functions(t) {
		events, _ := at(function, "Events").(map[string]any)
		for event := range events {
			method, path := at(events, event+".Properties.Method"), at(events, event+".Properties.Path")
			routes = append(routes, fmt.Sprint(method, " ", path))
			expect(t, events, event, fmt.Sprintf("{Type: HttpApi, Properties: {ApiId: HttpApi, Method: %v, Path: %v}}", method, path))
			binary := processtest.Build(t, "cmd/"+strings.ToLower(strings.TrimSuffix(name, "Function")))
			sent := fmt.Sprintf(`{"version":"2.0","routeKey":"%v %v","headers":{"authorization":"Bearer token"}}`, method, path)
			answers := processtest.Invoke(t, binary, processtest.Environment("http://127.0.0.1:1", "PLANTS_TABLE=plants"), sent)
			if !strings.Contains(answers[0], `{\"error\":5001,`) {
				t.Errorf("%s answers %s, want error 5001, as of internal/api", name, answers[0])
			}
		}
	}
	slices.Sort(routes)
	if want := []string{"POST /plants"}; !slices.Equal(routes, want) {
		t.Errorf("the API has the routes %v, want %v", routes, want)
	}
	expect(t, section(t, "Resources"), "HttpApi.Properties.Auth", `{DefaultAuthorizer: TokenAuthorizer, Authorizers: {TokenAuthorizer: {
		FunctionArn: '${AuthorizerFunction.Arn}:live', EnableFunctionDefaultPermissions: true, AuthorizerPayloadFormatVersion: '2.0',
		EnableSimpleResponses: true, Identity: {Context: [routeKey], ReauthorizeEvery: 0}}}}`)
}

// Each table has the key that internal/dynamo uses. The data stay when the stack or a table goes.
func TestTables(t *testing.T) {
	for _, want := range dynamo.Tables("PlantsTable", "TokensTable") {
		table := section(t, "Resources")[want.Name]
		expect(t, table, "Properties.AttributeDefinitions", fmt.Sprintf(`[{AttributeName: %s, AttributeType: '%s'}]`, want.Key, want.KeyType))
		expect(t, table, "Properties.KeySchema", fmt.Sprintf(`[{AttributeName: %s, KeyType: HASH}]`, want.Key))
		expect(t, table, "Properties.DeletionProtectionEnabled", "true")
		expect(t, table, "Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true")
		expect(t, table, "DeletionPolicy", "Retain")
		expect(t, table, "UpdateReplacePolicy", "Retain")
	}
}

// dev and production set every parameter, because a deployment keeps the old value of one that is left out.
func TestParameters(t *testing.T) {
	content, err := os.ReadFile("../../samconfig.toml")
	for parameter := range section(t, "Parameters") {
		if len(regexp.MustCompile(`\b`+parameter+"=").FindAll(content, -1)) != 2 || err != nil {
			t.Errorf("samconfig.toml sets %s other than twice, %v", parameter, err)
		}
	}
}

// Package template checks what no linter sees in template.yaml: who may do what, and what other files must agree with.
package template

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
	"plantstore/internal/budget"
	"plantstore/internal/dynamo"
)

const functionType = "AWS::Serverless::Function"

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile("../../" + file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// section returns a section of the template, such as Resources. A reference such as !GetAtt X.Arn is the text X.Arn.
func section(t *testing.T, name string) map[string]any {
	t.Helper()
	var template map[string]any
	if err := yaml.Unmarshal(read(t, "template.yaml"), &template); err != nil {
		t.Fatal(err)
	}
	return template[name].(map[string]any)
}

// resources returns the resources of a type.
func resources(t *testing.T, of string) map[string]any {
	t.Helper()
	found := section(t, "Resources")
	maps.DeleteFunc(found, func(_ string, r any) bool { return at(r, "Type") != of })
	if len(found) == 0 {
		t.Fatalf("the template has no %s", of)
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

// Each function may do one thing with one table. Lambda stops it at its time in package budget. Every change of it
// publishes a version. ErrorsAlarm counts its crashes.
func TestFunctions(t *testing.T) {
	want := map[string]struct {
		action, table string
		timeout       time.Duration
	}{
		"CreatePlantFunction": {"dynamodb:PutItem", "PlantsTable", budget.OperationTimeout},
		"AuthorizerFunction":  {"dynamodb:GetItem", "TokensTable", budget.AuthorizerTimeout},
	}
	counted := fmt.Sprint(at(section(t, "Resources")["ErrorsAlarm"], "Properties.Metrics"))
	for name, function := range resources(t, functionType) {
		properties := at(function, "Properties")
		expect(t, "Policies of "+name, at(properties, "Policies"),
			fmt.Sprintf("[{Statement: [{Effect: Allow, Action: '%s', Resource: %s.Arn}]}]", want[name].action, want[name].table))
		expect(t, "VersionDescription of "+name, at(properties, "VersionDescription"), want[name].table)
		expect(t, "AutoPublishAliasAllProperties of "+name, at(properties, "AutoPublishAliasAllProperties"), "true")
		expect(t, "Timeout of "+name, at(properties, "Timeout"), fmt.Sprint(want[name].timeout.Seconds()))
		if !strings.Contains(counted, "Value:"+name+"]") {
			t.Errorf("ErrorsAlarm reads %s, want also the crashes of %s", counted, name)
		}
	}
}

// No resource, and no property of a function or a table, opens another way to the data, such as a function URL, a policy
// or a stream.
func TestNoOtherWay(t *testing.T) {
	known := map[string]string{ // the properties of a type; "" means any
		functionType: "AutoPublishAliasAllProperties Description Environment Events Policies Timeout VersionDescription",
		"AWS::DynamoDB::Table": "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema OnDemandThroughput " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		"AWS::Serverless::HttpApi": "", "AWS::Logs::LogGroup": "", "AWS::Logs::MetricFilter": "", "AWS::SNS::Topic": "Subscription",
		"AWS::CloudWatch::Alarm": "", "AWS::CloudWatch::Dashboard": "",
	}
	for name, resource := range section(t, "Resources") {
		kind := fmt.Sprint(at(resource, "Type"))
		properties, isKnown := known[kind]
		if !isKnown {
			t.Errorf("%s is a %s: if that lets nothing in or out, add it to known", name, kind)
		}
		for property := range at(resource, "Properties").(map[string]any) {
			if properties != "" && !slices.Contains(strings.Fields(properties), property) {
				t.Errorf("%s has %s: if that lets nothing in or out, add it to known", name, property)
			}
		}
	}
}

// The API has the routes of the service. Each goes through the authorizer, which runs for every request.
func TestRoutes(t *testing.T) {
	var routes []string
	for name, function := range resources(t, functionType) {
		events, _ := at(function, "Properties.Events").(map[string]any)
		for _, event := range events {
			method, path := at(event, "Properties.Method"), at(event, "Properties.Path")
			expect(t, "an event of "+name, event, fmt.Sprintf("{Type: HttpApi, Properties: {ApiId: HttpApi, Method: %v, Path: %v}}", method, path))
			routes = append(routes, fmt.Sprint(method, " ", path))
		}
	}
	slices.Sort(routes)
	if want := api.Routes(); !slices.Equal(routes, want) {
		t.Errorf("the API has the routes %v, and internal/api %v: see the functions' Events in template.yaml", routes, want)
	}
	expect(t, "Auth", at(section(t, "Resources")["HttpApi"], "Properties.Auth"), `{DefaultAuthorizer: TokenAuthorizer, Authorizers: {TokenAuthorizer: {
		FunctionArn: '${AuthorizerFunction.Arn}:live', EnableFunctionDefaultPermissions: true, AuthorizerPayloadFormatVersion: '2.0',
		EnableSimpleResponses: true, Identity: {Context: [routeKey], ReauthorizeEvery: 0}}}}`)
}

// Each table has the key that internal/dynamo uses. The data stay when the stack or a table goes.
func TestTables(t *testing.T) {
	tables := resources(t, "AWS::DynamoDB::Table")
	for _, want := range dynamo.Tables("PlantsTable", "TokensTable") {
		table := tables[want.Name]
		expect(t, want.Name, at(table, "Properties.AttributeDefinitions"), fmt.Sprintf(`[{AttributeName: %s, AttributeType: '%s'}]`, want.Key, want.KeyType))
		expect(t, want.Name, at(table, "Properties.KeySchema"), fmt.Sprintf(`[{AttributeName: %s, KeyType: HASH}]`, want.Key))
		expect(t, want.Name, at(table, "DeletionPolicy"), "Retain")
		expect(t, want.Name, at(table, "UpdateReplacePolicy"), "Retain")
		expect(t, want.Name, at(table, "Properties.DeletionProtectionEnabled"), "true")
		expect(t, want.Name, at(table, "Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled"), "true")
	}
}

// Each environment sets every parameter, because a deployment keeps the old value of one that is left out.
func TestParameters(t *testing.T) {
	lists := regexp.MustCompile(`parameter_overrides = "(.*)"`).FindAllStringSubmatch(string(read(t, "samconfig.toml")), -1)
	want := slices.Sorted(maps.Keys(section(t, "Parameters")))
	for _, list := range lists {
		var names []string
		for _, setting := range strings.Fields(list[1]) {
			name, _, _ := strings.Cut(setting, "=")
			names = append(names, name)
		}
		slices.Sort(names)
		if !slices.Equal(names, want) {
			t.Errorf("samconfig.toml sets %v, want %v", names, want)
		}
	}
	if len(lists) != 2 {
		t.Errorf("samconfig.toml has %d lists of parameters, want that of dev and of production", len(lists))
	}
}

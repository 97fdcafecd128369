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

	"go.yaml.in/yaml/v3"
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

// at returns the value at a path such as Properties.Timeout, or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// Each resource has these properties, and so these rights, routes and times.
func TestResources(t *testing.T) {
	tests := map[string]string{
		"CreatePlantFunction.Properties": `
			Policies: [{Statement: [{Effect: Allow, Action: 'dynamodb:PutItem', Resource: PlantsTable.Arn}]}]
			Events: {CreatePlant: {Type: HttpApi, Properties: {ApiId: HttpApi, Method: POST, Path: /plants}}}
			Timeout: 4
			AutoPublishAliasAllProperties: true
			VersionDescription: PlantsTable`,
		"AuthorizerFunction.Properties": `
			Policies: [{Statement: [{Effect: Allow, Action: 'dynamodb:GetItem', Resource: TokensTable.Arn}]}]
			Events: null
			Timeout: 3
			AutoPublishAliasAllProperties: true
			VersionDescription: TokensTable`,
		"ErrorsMetric.Properties":      `FilterPattern: '{ $.code = 5001 }'`, // members of internal/api's log lines
		"UnavailableMetric.Properties": `FilterPattern: '{ $.code > 5001 && $.msg != "authorize" }'`,
		"HttpApi.Properties.Auth": `
			DefaultAuthorizer: TokenAuthorizer
			Authorizers: {TokenAuthorizer: {
				FunctionArn: '${AuthorizerFunction.Arn}:live', EnableFunctionDefaultPermissions: true,
				AuthorizerPayloadFormatVersion: '2.0', EnableSimpleResponses: true,
				Identity: {Context: [routeKey], ReauthorizeEvery: 0}}}`,
		"PlantsTable": `
			DeletionPolicy: Retain
			UpdateReplacePolicy: Retain`,
		"PlantsTable.Properties": `DeletionProtectionEnabled: true`,
		"TokensTable": `
			DeletionPolicy: Retain
			UpdateReplacePolicy: Retain`,
		"TokensTable.Properties": `
			DeletionProtectionEnabled: true
			TimeToLiveSpecification: {AttributeName: expires_at, Enabled: true}`,
	}
	for name, resource := range section(t, "Resources") {
		if tests[name+".Properties"] == "" && at(resource, "Type") == "AWS::Serverless::Function" {
			t.Errorf("%s is not in this table", name)
		}
	}
	for path, text := range tests {
		var want map[string]any
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "\t", " ")), &want); err != nil {
			t.Fatal(err)
		}
		for property := range want {
			got := at(section(t, "Resources"), path+"."+property)
			if fmt.Sprint(got) != fmt.Sprint(want[property]) {
				t.Errorf("%s.%s = %v, want %v", path, property, got, want[property])
			}
		}
	}
}

// No resource, and no property of a function, a table or the topic, opens another way in or out, such as a function
// URL, a policy or a stream.
func TestNoOtherWay(t *testing.T) {
	known := map[string]string{ // types and their properties; "" means any
		"AWS::Serverless::Function": "AutoPublishAliasAllProperties Description Environment Events Policies Timeout " +
			"VersionDescription",
		"AWS::DynamoDB::Table": "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema OnDemandThroughput " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		"AWS::SNS::Topic": "Subscription", "AWS::Serverless::HttpApi": "", "AWS::CloudWatch::Alarm": "",
		"AWS::Logs::LogGroup": "", "AWS::Logs::MetricFilter": "",
	}
	for name, resource := range section(t, "Resources") {
		kind := fmt.Sprint(at(resource, "Type"))
		properties, isKnown := known[kind]
		for property := range at(resource, "Properties").(map[string]any) {
			if !isKnown || properties != "" && !slices.Contains(strings.Fields(properties), property) {
				t.Errorf("%s, a %s, has %s: if that lets nothing in or out, add it to known", name, kind, property)
			}
		}
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

// Package template checks what no linter sees in template.yaml: who may do what, and which log lines fire an alarm.
package template

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// resources returns the resources of the template. A reference such as !GetAtt X.Arn is the text X.Arn.
func resources(t *testing.T) map[string]any {
	content, err := os.ReadFile("../../template.yaml")
	var template map[string]any
	if err := errors.Join(err, yaml.Unmarshal(content, &template)); err != nil {
		t.Fatal(err)
	}
	return template["Resources"].(map[string]any)
}

// at returns the value at a path such as PlantsTable.Properties.KeySchema, or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func TestValues(t *testing.T) {
	tests := map[string]string{
		"CreatePlantFunction.Properties.Policies": `
			[{Statement: [{Effect: Allow, Action: 'dynamodb:PutItem', Resource: PlantsTable.Arn}]}]`,
		"CreatePlantFunction.Properties.Events": `
			{CreatePlant: {Type: HttpApi, Properties: {ApiId: HttpApi, Method: POST, Path: /plants}}}`,
		"AuthorizerFunction.Properties.Policies": `
			[{Statement: [{Effect: Allow, Action: 'dynamodb:GetItem', Resource: TokensTable.Arn}]}]`,
		"HttpApi.Properties.Auth": `{DefaultAuthorizer: TokenAuthorizer, Authorizers: {TokenAuthorizer: {
			FunctionArn: AuthorizerFunction.Arn, EnableFunctionDefaultPermissions: true,
			AuthorizerPayloadFormatVersion: '2.0', EnableSimpleResponses: true,
			Identity: {Context: [routeKey], ReauthorizeEvery: 0}}}}`,
		"PlantsTable.DeletionPolicy":                       `Retain`,
		"PlantsTable.Properties.DeletionProtectionEnabled": `true`,
		"TokensTable.DeletionPolicy":                       `Retain`,
		"TokensTable.Properties.DeletionProtectionEnabled": `true`,
		"TokensTable.Properties.TimeToLiveSpecification":   `{AttributeName: expires_at, Enabled: true}`,
		// Members of internal/api's log lines, and record.status of Lambda's own.
		"ErrorsMetric.Properties.FilterPattern": `'{ $.code = 5001 || $.record.status = "error" || ` +
			`$.record.status = "failure" || $.record.status = "timeout" }'`,
		"UnavailableMetric.Properties.FilterPattern": `'{ $.code > 5001 && $.msg != "authorize" }'`,
	}
	for name, resource := range resources(t) {
		if at(resource, "Type") == "AWS::Serverless::Function" && tests[name+".Properties.Policies"] == "" {
			t.Errorf("the policies of %s are not in this table", name)
		}
	}
	for path, text := range tests {
		var want any
		if err := yaml.Unmarshal([]byte(strings.ReplaceAll(text, "\t", " ")), &want); err != nil {
			t.Fatal(err)
		}
		if got := at(resources(t), path); fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
	}
}

// No resource or property opens another way in or out, such as a function URL, a policy of a table or a stream.
func TestNoOtherWay(t *testing.T) {
	known := map[string]string{ // types and their properties; "" means any
		"AWS::Serverless::Function": "Description Environment Events Policies Timeout",
		"AWS::DynamoDB::Table": "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema OnDemandThroughput " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		"AWS::SNS::Topic": "Subscription", "AWS::Serverless::HttpApi": "", "AWS::CloudWatch::Alarm": "",
		"AWS::Logs::LogGroup": "", "AWS::Logs::MetricFilter": "",
	}
	for name, resource := range resources(t) {
		kind := fmt.Sprint(at(resource, "Type"))
		properties, isKnown := known[kind]
		for property := range at(resource, "Properties").(map[string]any) {
			if !isKnown || properties != "" && !strings.Contains(" "+properties+" ", " "+property+" ") {
				t.Errorf("%s, a %s, has %s: if that lets nothing in or out, add it to known", name, kind, property)
			}
		}
	}
}

// Package template checks the few lines of template.yaml by which somebody could get in, or something get lost, and those
// on which the code relies. All else may change freely.
package template

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
)

type object = map[string]any

func TestTemplate(t *testing.T) {
	text, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template object
	if err := yaml.Unmarshal(text, &template); err != nil { // it drops tags: !Ref X becomes X
		t.Fatal(err)
	}
	at := func(path string) any {
		var value any = template
		for name := range strings.SplitSeq(path, "/") {
			members, _ := value.(object)
			value = members[name]
		}
		return value
	}
	only := func(action, resource string) any {
		return []any{object{"Statement": []any{object{"Effect": "Allow", "Action": action, "Resource": resource}}}}
	}
	const authorizer = "Resources/HttpApi/Properties/Auth/Authorizers/TokenAuthorizer/"
	for path, want := range map[string]any{
		"Resources/HttpApi/Properties/Auth/DefaultAuthorizer": "TokenAuthorizer",
		authorizer + "FunctionArn":                            "AuthorizerFunction.Arn",
		authorizer + "AuthorizerPayloadFormatVersion":         "2.0",
		authorizer + "EnableSimpleResponses":                  true,
		authorizer + "EnableFunctionDefaultPermissions":       true,
		authorizer + "Identity":                               object{"Context": []any{"routeKey"}, "ReauthorizeEvery": 0},

		"Resources/CreatePlantFunction/Properties/Policies":                           only("dynamodb:PutItem", "PlantsTable.Arn"),
		"Resources/CreatePlantFunction/Properties/Environment/Variables/PLANTS_TABLE": "PlantsTable",
		"Resources/AuthorizerFunction/Properties/Policies":                            only("dynamodb:GetItem", "TokensTable.Arn"),
		"Resources/AuthorizerFunction/Properties/Environment/Variables/TOKENS_TABLE":  "TokensTable",
		// Each function is reachable through the API alone, and the API through its one authorized route.
		"Resources/CreatePlantFunction/Properties/Events": object{"CreatePlant": object{
			"Type":       "HttpApi",
			"Properties": object{"ApiId": "HttpApi", "Method": "POST", "Path": "/plants"},
		}},
		"Resources/AuthorizerFunction/Properties/Events":             nil,
		"Resources/CreatePlantFunction/Properties/FunctionUrlConfig": nil,
		"Resources/AuthorizerFunction/Properties/FunctionUrlConfig":  nil,

		"Resources/PlantsTable/Properties/KeySchema":               []any{object{"AttributeName": "id", "KeyType": "HASH"}},
		"Resources/PlantsTable/Properties/AttributeDefinitions":    []any{object{"AttributeName": "id", "AttributeType": "N"}},
		"Resources/TokensTable/Properties/KeySchema":               []any{object{"AttributeName": "digest", "KeyType": "HASH"}},
		"Resources/TokensTable/Properties/AttributeDefinitions":    []any{object{"AttributeName": "digest", "AttributeType": "S"}},
		"Resources/TokensTable/Properties/TimeToLiveSpecification": object{"AttributeName": "expires_at", "Enabled": true},
		"Globals/Function/LoggingConfig":                           object{"LogGroup": "Log", "LogFormat": "JSON"},
		"Resources/Failures/Properties/LogGroupName":               "Log",
		"Resources/FailuresAlarm/Properties/AlarmActions":          []any{"AlarmTopic"},
		"Resources/FailuresAlarm/Properties/Threshold":             0,
		"Resources/FailuresAlarm/Properties/ComparisonOperator":    "GreaterThanThreshold",
	} {
		if got := at(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	for _, table := range []string{"PlantsTable", "TokensTable"} {
		for path, want := range map[string]any{
			"DeletionPolicy":                       "Retain",
			"UpdateReplacePolicy":                  "Retain",
			"Properties/DeletionProtectionEnabled": true,
			"Properties/PointInTimeRecoverySpecification/PointInTimeRecoveryEnabled": true,
		} {
			if got := at("Resources/" + table + "/" + path); got != want {
				t.Errorf("%s of %s is %v, want %v", path, table, got, want)
			}
		}
	}
	// The alarm counts what the functions log, what they cannot log, and what reaches no function.
	metrics := fmt.Sprint(at("Resources/FailuresAlarm/Properties/Metrics"), at("Resources/Failures/Properties/MetricTransformations"))
	for _, part := range []string{
		"MetricName:Failures MetricNamespace:AWS::StackName", "MetricName:Failures Namespace:AWS::StackName",
		"Value:CreatePlantFunction", "Value:AuthorizerFunction", "MetricName:5xx",
	} {
		if !strings.Contains(metrics, part) {
			t.Errorf("FailuresAlarm lacks %s in %s", part, metrics)
		}
	}
	if got, _ := at("Globals/Function/Timeout").(int); got <= int(api.Timeout.Seconds()) {
		t.Errorf("Lambda stops a function after %d s, which is not more than api.Timeout", got)
	}
}

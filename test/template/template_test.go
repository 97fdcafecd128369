// Package template checks the few lines of template.yaml by which somebody could get in, or something get lost, and those
// on which the code relies. All else may change freely.
package template

import (
	"fmt"
	"os"
	"reflect"
	"regexp"
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
		"Globals/Function/Architectures":                                              []any{"x86_64"}, // as the Makefile builds: see below

		"Resources/CreatePlantFunction/Properties/Events/CreatePlant/Properties/Method": "POST",
		"Resources/CreatePlantFunction/Properties/Events/CreatePlant/Properties/Path":   "/plants",

		"Globals/HttpApi":                    nil,
		"Globals/Function/FunctionUrlConfig": nil,

		"Resources/PlantsTable/Properties/KeySchema":               []any{object{"AttributeName": "id", "KeyType": "HASH"}},
		"Resources/PlantsTable/Properties/AttributeDefinitions":    []any{object{"AttributeName": "id", "AttributeType": "N"}},
		"Resources/TokensTable/Properties/KeySchema":               []any{object{"AttributeName": "digest", "KeyType": "HASH"}},
		"Resources/TokensTable/Properties/AttributeDefinitions":    []any{object{"AttributeName": "digest", "AttributeType": "S"}},
		"Resources/TokensTable/Properties/TimeToLiveSpecification": object{"AttributeName": "expires_at", "Enabled": true},
		"Globals/Function/LoggingConfig":                           object{"LogGroup": "Log", "LogFormat": "JSON"},
	} {
		if got := at(path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, want %v", path, got, want)
		}
	}
	// Each function is reachable through the API alone, and only with the authorizer.
	for name, resource := range template["Resources"].(object) {
		kind, _ := resource.(object)["Type"].(string)
		if kind == "AWS::Lambda::Url" || kind == "AWS::Lambda::Permission" || at("Resources/"+name+"/Properties/FunctionUrlConfig") != nil {
			t.Errorf("%s opens a function", name)
		}
		events, _ := at("Resources/" + name + "/Properties/Events").(object)
		for event := range events {
			path := "Resources/" + name + "/Properties/Events/" + event
			if at(path+"/Type") != "HttpApi" || at(path+"/Properties/ApiId") != "HttpApi" || at(path+"/Properties/Auth") != nil {
				t.Errorf("%s is %v, which is not a route with the authorizer", path, at(path))
			}
		}
	}
	if format := fmt.Sprint(at("Resources/HttpApi/Properties/AccessLogSettings/Format")); strings.Contains(format, "identity") {
		t.Errorf("the access log has the client's address: %s", format)
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
	for _, limit := range []string{"ThrottlingRateLimit", "ThrottlingBurstLimit"} {
		if got, _ := at("Resources/HttpApi/Properties/DefaultRouteSettings/" + limit).(int); got <= 0 {
			t.Errorf("%s is %d, so there is no throttle", limit, got)
		}
	}
	// What the functions log, what they cannot log, and what reaches no function.
	for alarm, metrics := range map[string][]string{
		"ErrorsAlarm":      {"MetricName:Errors Namespace:AWS::StackName", "Value:CreatePlantFunction", "Value:AuthorizerFunction"},
		"UnavailableAlarm": {"MetricName:Unavailable Namespace:AWS::StackName", "MetricName:5xx"},
	} {
		properties, _ := at("Resources/" + alarm + "/Properties").(object)
		for _, metric := range metrics {
			if !strings.Contains(fmt.Sprint(properties["Metrics"]), metric) {
				t.Errorf("%s lacks %s in %s", alarm, metric, properties["Metrics"])
			}
		}
		if properties["Threshold"] != 0 || properties["ComparisonOperator"] != "GreaterThanThreshold" ||
			!strings.Contains(fmt.Sprint(properties["AlarmActions"]), "AlarmTopic") {
			t.Errorf("%s is %v", alarm, properties)
		}
	}
	for _, filter := range []string{"Errors", "Unavailable"} {
		properties, _ := at("Resources/" + filter + "/Properties").(object)
		want := "MetricName:" + filter + " MetricNamespace:AWS::StackName MetricValue:1"
		if properties["LogGroupName"] != "Log" || !strings.Contains(fmt.Sprint(properties["MetricTransformations"]), want) {
			t.Errorf("the filter %s is %v", filter, properties)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(makefile), " GOARCH=amd64 ") {
		t.Error("the Makefile does not build for x86_64")
	}
	if got, _ := at("Globals/Function/Timeout").(int); got <= int(api.Timeout.Seconds()) {
		t.Errorf("Lambda stops a function after %d s, which is not more than api.Timeout", got)
	}
}

// Without a folder of its own for its code, deleting one stack would delete the code of the other.
func TestSAMConfig(t *testing.T) {
	text, err := os.ReadFile("../../samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	for _, setting := range []string{"stack_name", "s3_prefix"} {
		values := regexp.MustCompile(`(?m)^`+setting+` *= *("[\w-]+")`).FindAllStringSubmatch(string(text), -1)
		if len(values) != 2 || values[0][1] == values[1][1] {
			t.Errorf("%s is %v, want one for each stack", setting, values)
		}
	}
}

// Package template checks what no linter sees in template.yaml, samconfig.toml and openapi.yaml: who may do what, what
// reaches an operator, and what the code relies on.
package template

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore"
	"plantstore/internal/api"
)

type (
	object = map[string]any
	list   = []any
)

// read returns the template. A reference such as !GetAtt X.Arn is the text X.Arn.
func read(t *testing.T) object {
	t.Helper()
	content, err := os.ReadFile("../../template.yaml")
	var template object
	if err := errors.Join(err, yaml.Unmarshal(content, &template)); err != nil {
		t.Fatal(err)
	}
	return template
}

// at returns the value at a path such as Resources.PlantsTable.Type, or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(object)
		value = object[name]
	}
	return value
}

// check compares the value at a path below Resources.
func check(t *testing.T, path string, want any) {
	t.Helper()
	if got := at(read(t), "Resources."+path); !reflect.DeepEqual(got, want) {
		t.Errorf("%s = %v, want %v", path, got, want)
	}
}

// namesOf returns the names of the resources of a type.
func namesOf(t *testing.T, kind string) []string {
	t.Helper()
	resources := read(t)["Resources"].(object)
	maps.DeleteFunc(resources, func(_ string, resource any) bool { return at(resource, "Type") != kind })
	return slices.Sorted(maps.Keys(resources))
}

// Each function may perform one action on its own table, and its timeout is longer than the time that it gives itself.
func TestFunctions(t *testing.T) {
	tests := []struct {
		name, variable, table, action string
		takes                         time.Duration
	}{
		{"AuthorizerFunction", "TOKENS_TABLE", "TokensTable", "dynamodb:GetItem", api.AuthorizerTimeout},
		{"CreatePlantFunction", "PLANTS_TABLE", "PlantsTable", "dynamodb:PutItem", api.RequestTimeout},
	}
	if got := namesOf(t, "AWS::Serverless::Function"); len(got) != len(tests) {
		t.Errorf("the functions are %q, want a test for each", got)
	}
	for _, test := range tests {
		statement := object{"Effect": "Allow", "Action": test.action, "Resource": test.table + ".Arn"}
		check(t, test.name+".Properties.Policies", list{object{"Statement": list{statement}}})
		check(t, test.name+".Properties.Environment", object{"Variables": object{test.variable: test.table}})
		timeout := at(read(t), "Resources."+test.name+".Properties.Timeout").(int)
		if time.Duration(timeout)*time.Second <= test.takes {
			t.Errorf("%s has %d s, want more than the %v that it gives itself", test.name, timeout, test.takes)
		}
	}
	for path, want := range map[string]any{
		"Architectures":                      list{"x86_64"}, // the Makefile builds for it
		"LoggingConfig.LogFormat":            "JSON",
		"Environment.Variables.SSL_CERT_DIR": "none",
	} {
		if got := at(read(t), "Globals.Function."+path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
	}
}

// Every request to every route needs a verdict, which API Gateway must not cache. A flood is throttled.
func TestAuthorizer(t *testing.T) {
	var routes []string
	for _, name := range namesOf(t, "AWS::Serverless::Function") {
		events, _ := at(read(t), "Resources."+name+".Properties.Events").(object)
		for _, event := range events {
			method, path := at(event, "Properties.Method"), at(event, "Properties.Path")
			want := object{"ApiId": "HttpApi", "Method": method, "Path": path} // and no Auth, such as Authorizer: NONE
			if got := at(event, "Properties"); at(event, "Type") != "HttpApi" || !reflect.DeepEqual(got, want) {
				t.Errorf("%s has the event %v, want a route with the default authorizer", name, event)
			}
			routes = append(routes, fmt.Sprint(method, " ", path))
		}
	}
	slices.Sort(routes)
	if want := slices.Sorted(maps.Keys(api.Routes(nil, nil))); !slices.Equal(routes, want) {
		t.Errorf("the routes are %q, want those of api.Routes, %q", routes, want)
	}
	check(t, "HttpApi.Properties.Auth", object{
		"DefaultAuthorizer": "TokenAuthorizer",
		"Authorizers": object{"TokenAuthorizer": object{
			"FunctionArn":                      "AuthorizerFunction.Arn",
			"EnableFunctionDefaultPermissions": true,
			"AuthorizerPayloadFormatVersion":   "2.0",
			"EnableSimpleResponses":            true,
			"Identity":                         object{"Context": list{"routeKey"}, "ReauthorizeEvery": 0},
		}},
	})
	check(t, "HttpApi.Properties.DefaultRouteSettings", object{"ThrottlingRateLimit": 100, "ThrottlingBurstLimit": 200})
}

// Clients find every route in the contract.
func TestContractHasRoutes(t *testing.T) {
	var contract struct {
		Paths map[string]object `yaml:"paths"`
	}
	if err := yaml.Unmarshal(plantstore.OpenAPI, &contract); err != nil {
		t.Fatal(err)
	}
	for route := range api.Routes(nil, nil) {
		method, path, _ := strings.Cut(route, " ")
		if contract.Paths[path][strings.ToLower(method)] == nil {
			t.Errorf("openapi.yaml lacks %s", route)
		}
	}
}

// Deleting the stack, or replacing a table, deletes no data. The code needs these keys, and operations.md these outputs.
func TestTables(t *testing.T) {
	for name, want := range map[string]any{
		"Url":       "https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}",
		"AlarmMail": list{"HasAlarmMail", "AlarmMail", "nobody"},
	} {
		if got := at(read(t), "Outputs."+name+".Value"); !reflect.DeepEqual(got, want) {
			t.Errorf("the output %s = %v, want %v", name, got, want)
		}
	}
	check(t, "PlantsTable.Properties.AttributeDefinitions", list{object{"AttributeName": "id", "AttributeType": "N"}})
	check(t, "TokensTable.Properties.AttributeDefinitions", list{object{"AttributeName": "id", "AttributeType": "S"}})
	tables := namesOf(t, "AWS::DynamoDB::Table")
	if want := []string{"PlantsTable", "TokensTable"}; !slices.Equal(tables, want) {
		t.Errorf("the tables are %q, want %q", tables, want)
	}
	for _, name := range tables {
		check(t, name+".DeletionPolicy", "Retain")
		check(t, name+".UpdateReplacePolicy", "Retain")
		check(t, name+".Properties.DeletionProtectionEnabled", true)
		check(t, name+".Properties.PointInTimeRecoverySpecification", object{"PointInTimeRecoveryEnabled": true})
	}
	const largest = 391 // write units for the largest plant
	if units, _ := at(read(t), "Resources.PlantsTable.Properties.OnDemandThroughput.MaxWriteRequestUnits").(int); units < largest {
		t.Errorf("PlantsTable has %d write units, want at least %d", units, largest)
	}
	check(t, "TokensTable.Properties.TimeToLiveSpecification", object{"AttributeName": "expires_at", "Enabled": true})
}

// The two alarms count the codes in the log and the failures of each function and of API Gateway, and both notify.
func TestAlarms(t *testing.T) {
	tests := []struct {
		name, pattern string // the pattern's members are those of internal/api's log lines
		minutes       int    // out of five
	}{
		{"Errors", `{ $.code = 5001 }`, 1},
		{"Unavailable", `{ $.code > 5001 && $.message != "authorize" }`, 3},
	}
	for _, test := range tests {
		logged := object{"MetricNamespace": "AWS::StackName", "MetricName": test.name, "MetricValue": "1"}
		check(t, test.name+"Metric.Properties.LogGroupName", "Log")
		check(t, test.name+"Metric.Properties.FilterPattern", test.pattern)
		check(t, test.name+"Metric.Properties.MetricTransformations", list{logged})
		for property, want := range map[string]any{
			"AlarmActions": list{"AlarmTopic"}, "OKActions": list{"AlarmTopic"},
			"DatapointsToAlarm": test.minutes, "EvaluationPeriods": 5,
			"Threshold": 0, "ComparisonOperator": "GreaterThanThreshold", "TreatMissingData": "notBreaching",
		} {
			check(t, test.name+"Alarm.Properties."+property, want)
		}
	}
	failures := list{object{"Namespace": "AWS::StackName", "MetricName": "Errors"}}
	for _, function := range namesOf(t, "AWS::Serverless::Function") {
		dimensions := list{object{"Name": "FunctionName", "Value": function}}
		failures = append(failures, object{"Namespace": "AWS/Lambda", "MetricName": "Errors", "Dimensions": dimensions})
	}
	checkMetrics(t, "ErrorsAlarm", failures)
	dimensions := list{object{"Name": "ApiId", "Value": "HttpApi"}}
	checkMetrics(t, "UnavailableAlarm", list{
		object{"Namespace": "AWS::StackName", "MetricName": "Unavailable"},
		object{"Namespace": "AWS/ApiGateway", "MetricName": "5xx", "Dimensions": dimensions},
	})
	if got, want := fmt.Sprint(read(t)["Conditions"]), "map[HasAlarmMail:[[AlarmMail ]]]"; got != want { // !Not [!Equals
		t.Errorf("Conditions = %s, want %s", got, want)
	}
	subscription := list{object{"Protocol": "email", "Endpoint": "AlarmMail"}}
	check(t, "AlarmTopic.Properties.Subscription", list{"HasAlarmMail", subscription, "AWS::NoValue"})
}

// checkMetrics compares the metrics whose sum an alarm watches each minute.
func checkMetrics(t *testing.T, alarm string, metrics list) {
	t.Helper()
	queries := at(read(t), "Resources."+alarm+".Properties.Metrics").(list)
	if got := at(queries[0], "Expression"); got != "SUM(FILL(METRICS(), 0))" {
		t.Errorf("%s watches %v, want the sum of its metrics", alarm, got)
	}
	var got, want list
	for _, query := range queries[1:] {
		got = append(got, at(query, "MetricStat"))
	}
	for _, metric := range metrics {
		want = append(want, object{"Stat": "Sum", "Period": 60, "Metric": metric})
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s counts %v, want %v", alarm, got, want)
	}
}

// No resource or property opens another way in or out, such as a function URL, a table policy or a stream.
func TestNoOtherWay(t *testing.T) {
	known := map[string]string{ // types and their properties; "" means any
		"AWS::Serverless::Function": "Description Environment Events Policies Timeout",
		"AWS::DynamoDB::Table": "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema OnDemandThroughput " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		"Function":                 "Architectures CodeUri Environment Handler LoggingConfig MemorySize Runtime", // Globals
		"AWS::Serverless::HttpApi": "AccessLogSettings Auth DefaultRouteSettings",
		"AWS::SNS::Topic":          "Subscription",
		"AWS::CloudWatch::Alarm":   "", "AWS::Logs::LogGroup": "", "AWS::Logs::MetricFilter": "",
	}
	checkKnown := func(name, kind string, properties any) {
		names, isKnown := known[kind]
		for property := range properties.(object) {
			if !isKnown || names != "" && !strings.Contains(" "+names+" ", " "+property+" ") {
				t.Errorf("%s, a %s, has %s: if that lets nothing in or out, add it to known", name, kind, property)
			}
		}
	}
	for name, resource := range read(t)["Resources"].(object) {
		checkKnown(name, fmt.Sprint(at(resource, "Type")), at(resource, "Properties"))
	}
	for kind, properties := range read(t)["Globals"].(object) {
		checkKnown("Globals", kind, properties)
	}
}

// samconfig.toml sets every parameter in both environments, because one that is left out keeps its old value. In both,
// SAM builds in the source, so that the functions know their commit.
func TestEnvironments(t *testing.T) {
	content, err := os.ReadFile("../../samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	settings := []string{`build_in_source = true`, `fail_on_empty_changeset = false`, `stack_name = "plant-store-(dev|production)"`}
	for name := range read(t)["Parameters"].(object) {
		settings = append(settings, `parameter_overrides = ".*\b`+name+`=.*"`)
	}
	development, production, _ := strings.Cut(string(content), "[production.")
	for environment, section := range map[string]string{"dev": development, "production": production} {
		for _, setting := range settings {
			setting = strings.Replace(setting, "(dev|production)", environment, 1)
			if !regexp.MustCompile(`(?m)^` + setting).MatchString(section) {
				t.Errorf("%s lacks %s", environment, setting)
			}
		}
	}
}

// Package template checks what no linter sees in template.yaml, samconfig.toml and openapi.yaml: who may do what, what
// reaches an operator, and what the code relies on. Memory, limits and the like may change freely.
package template

import (
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore"
	"plantstore/internal/api"
)

type object = map[string]any

// read returns a file in the root of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile("../../" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// decode returns what a YAML text says. Package yaml drops tags, so !Ref X becomes the list [!Ref, X].
func decode(t *testing.T, text string) object {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal([]byte(text), &node); err != nil {
		t.Fatal(err)
	}
	keepTags(&node)
	var members object
	if err := node.Decode(&members); err != nil {
		t.Fatal(err)
	}
	return members
}

func keepTags(node *yaml.Node) {
	for _, child := range node.Content {
		keepTags(child)
	}
	if node.Style&yaml.TaggedStyle != 0 {
		tag, value := yaml.Node{Kind: yaml.ScalarNode, Value: node.Tag}, *node
		*node = yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{&tag, &value}}
	}
}

// at returns the value at a path such as Resources.PlantsTable.Type, or nil.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		members, _ := value.(object)
		value = members[name]
	}
	return value
}

// metric returns the YAML of a metric that an alarm counts each minute.
func metric(id, source string) string {
	return "\n- {Id: " + id + ", ReturnData: false, MetricStat: {Stat: Sum, Period: 60, Metric: {" + source + "}}}"
}

// Each part of the template has a row, and no part has members that its rows do not name. So nothing opens another way in
// or out, such as a function URL, a table policy or a stream.
func TestTemplate(t *testing.T) {
	template := decode(t, read(t, "template.yaml"))
	built := regexp.MustCompile(`GOARCH=\w+`).FindString(read(t, "Makefile"))
	architecture := map[string]string{"GOARCH=amd64": "x86_64", "GOARCH=arm64": "arm64"}[built]
	failures := "" // the errors of every function, which Lambda counts even if the function cannot log them
	for _, name := range slices.Sorted(maps.Keys(template["Resources"].(object))) {
		if id, isFunction := strings.CutSuffix(name, "Function"); isFunction {
			dimensions := "[{Name: FunctionName, Value: !Ref " + name + "}]"
			failures += metric(strings.ToLower(id), "Namespace: AWS/Lambda, MetricName: Errors, Dimensions: "+dimensions)
		}
	}
	const table = `
Type: AWS::DynamoDB::Table
DeletionPolicy: Retain
UpdateReplacePolicy: Retain
DeletionProtectionEnabled: true
PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}
KeySchema: [{AttributeName: id, KeyType: HASH}]
`
	const alarm = `
Type: AWS::CloudWatch::Alarm
EvaluationPeriods: 5
ComparisonOperator: GreaterThanThreshold
Threshold: 0
TreatMissingData: notBreaching
AlarmActions: [!Ref AlarmTopic]
OKActions: [!Ref AlarmTopic]
`
	type numbers = map[string]int
	tests := []struct {
		path  string
		holds string  // YAML of the members that must be just so, those of Properties among them
		least numbers // members that must be at least so large
		free  string  // members that may be anything
	}{
		// A flood is throttled, the largest plant takes 391 write units, and a function has more time than it gives itself.
		{path: "Resources.HttpApi.Properties.DefaultRouteSettings", least: numbers{"ThrottlingRateLimit": 1, "ThrottlingBurstLimit": 1}},
		{path: "Resources.PlantsTable.Properties.OnDemandThroughput", least: numbers{"MaxWriteRequestUnits": 391}},
		{path: "Resources.AuthorizerFunction.Properties", least: numbers{"Timeout": int(api.AuthorizerTimeout.Seconds()) + 1}},
		{path: "Resources.CreatePlantFunction.Properties", least: numbers{"Timeout": int(api.RequestTimeout.Seconds()) + 1}},
		// Each function may perform one action on its own table.
		{path: "Resources.AuthorizerFunction", free: "Description MemorySize", holds: `
Type: AWS::Serverless::Function
Metadata: {BuildMethod: makefile}
Environment: {Variables: {TOKENS_TABLE: !Ref TokensTable}}
Policies: [{Statement: [{Effect: Allow, Action: dynamodb:GetItem, Resource: !GetAtt TokensTable.Arn}]}]`},
		{path: "Resources.CreatePlantFunction", free: "Description MemorySize", holds: `
Type: AWS::Serverless::Function
Metadata: {BuildMethod: makefile}
Environment: {Variables: {PLANTS_TABLE: !Ref PlantsTable}}
Policies: [{Statement: [{Effect: Allow, Action: dynamodb:PutItem, Resource: !GetAtt PlantsTable.Arn}]}]
Events: {CreatePlant: {Type: HttpApi, Properties: {ApiId: !Ref HttpApi, Method: POST, Path: /plants}}}`},
		// The Makefile builds for this architecture, no variable sends data elsewhere, and the metric filters read JSON.
		{path: "Globals.Function", free: "MemorySize", holds: `
CodeUri: .
Handler: bootstrap
Runtime: provided.al2023
Architectures: [` + architecture + `]
Environment: {Variables: {GOMAXPROCS: '1', SSL_CERT_DIR: none}}
LoggingConfig: {LogGroup: !Ref Log, LogFormat: JSON}`},
		{path: "Resources.Log", free: "RetentionInDays", holds: "Type: AWS::Logs::LogGroup"},
		{path: "Resources.AccessLog", free: "LogGroupName RetentionInDays", holds: "Type: AWS::Logs::LogGroup"},
		// Every request needs a verdict, which API Gateway must not cache. Its log has no header, path or client address.
		{path: "Resources.HttpApi", free: "DefaultRouteSettings", holds: `
Type: AWS::Serverless::HttpApi
Auth:
  DefaultAuthorizer: TokenAuthorizer
  Authorizers:
    TokenAuthorizer:
      FunctionArn: !GetAtt AuthorizerFunction.Arn
      EnableFunctionDefaultPermissions: true
      AuthorizerPayloadFormatVersion: '2.0'
      EnableSimpleResponses: true
      Identity: {Context: [routeKey], ReauthorizeEvery: 0}
AccessLogSettings:
  DestinationArn: !Sub 'arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:${AccessLog}'
  Format: >-
    {"apigw_request_id":"$context.requestId","time":"$context.requestTimeEpoch",
    "routeKey":"$context.routeKey","status":"$context.status","error":"$context.error.message",
    "authorizerError":"$context.authorizer.error","integrationError":"$context.integration.error",
    "requestId":"$context.integration.requestId",
    "integrationLatency":"$context.integration.latency","responseLatency":"$context.responseLatency"}`},
		// Deleting the stack, or replacing a table, deletes no data. The code needs these keys.
		{path: "Resources.PlantsTable", free: "BillingMode OnDemandThroughput", holds: table + `
AttributeDefinitions: [{AttributeName: id, AttributeType: 'N'}]`},
		{path: "Resources.TokensTable", free: "BillingMode OnDemandThroughput", holds: table + `
AttributeDefinitions: [{AttributeName: id, AttributeType: S}]
TimeToLiveSpecification: {AttributeName: expires_at, Enabled: true}`},
		// The alarms count the codes that internal/api logs, and failures that it cannot log. They notify an operator.
		{path: "Resources.ErrorsMetric", holds: `
Type: AWS::Logs::MetricFilter
LogGroupName: !Ref Log
FilterPattern: '{ $.code = 5001 }'
MetricTransformations: [{MetricNamespace: !Ref AWS::StackName, MetricName: Errors, MetricValue: '1'}]`},
		{path: "Resources.ErrorsAlarm", free: "AlarmDescription", holds: alarm + `
DatapointsToAlarm: 1
Metrics:
- {Id: errors, Label: errors, Expression: 'SUM(FILL(METRICS(), 0))'}` +
			metric("logged", "Namespace: !Ref AWS::StackName, MetricName: Errors") + failures},
		{path: "Resources.UnavailableMetric", holds: `
Type: AWS::Logs::MetricFilter
LogGroupName: !Ref Log
FilterPattern: '{ $.code > 5001 && $.message != "authorize" }'
MetricTransformations: [{MetricNamespace: !Ref AWS::StackName, MetricName: Unavailable, MetricValue: '1'}]`},
		{path: "Resources.UnavailableAlarm", free: "AlarmDescription", holds: alarm + `
DatapointsToAlarm: 3
Metrics:
- {Id: unavailable, Label: unavailable, Expression: 'SUM(FILL(METRICS(), 0))'}` +
			metric("logged", "Namespace: !Ref AWS::StackName, MetricName: Unavailable") +
			metric("gateway", "Namespace: AWS/ApiGateway, MetricName: 5xx, Dimensions: [{Name: ApiId, Value: !Ref HttpApi}]")},
		{path: "Resources.AlarmTopic", holds: `
Type: AWS::SNS::Topic
Subscription: !If [HasAlarmMail, [{Protocol: email, Endpoint: !Ref AlarmMail}], !Ref AWS::NoValue]`},
		{path: "Conditions", holds: "HasAlarmMail: !Not [!Equals [!Ref AlarmMail, '']]"},
		{path: "Parameters.AlarmMail", free: "Description", holds: "{Type: String, Default: ''}"},
		// Operators and test/deployment read these.
		{path: "Outputs", holds: `
Url: {Value: !Sub 'https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}'}
AlarmMail: {Value: !If [HasAlarmMail, !Ref AlarmMail, nobody]}`},
	}
	// Each row takes its members out of the template, an inner part before the one around it. What is left then is unknown.
	for _, test := range tests {
		members, _ := at(template, test.path).(object)
		properties, _ := members["Properties"].(object)
		delete(members, "Properties")
		maps.Copy(members, properties)
		for name, want := range decode(t, test.holds) {
			if got := members[name]; !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s = %v, want %v", test.path, name, got, want)
			}
			delete(members, name)
		}
		for name, want := range test.least {
			if got, _ := members[name].(int); got < want {
				t.Errorf("%s: %s = %v, want at least %d", test.path, name, members[name], want)
			}
			delete(members, name)
		}
		for _, name := range strings.Fields(test.free) {
			delete(members, name)
		}
	}
	if got := template["Transform"]; got != "AWS::Serverless-2016-10-31" { // another one could change anything
		t.Errorf("Transform = %v, want only SAM's", got)
	}
	for _, name := range []string{"AWSTemplateFormatVersion", "Description", "Transform"} {
		delete(template, name)
	}
	for section := range template {
		for name, left := range template[section].(object) {
			if !reflect.DeepEqual(left, object{}) {
				t.Errorf("%s.%s has %v: if that lets nothing in or out, add it to its row", section, name, left)
			}
		}
	}
}

// Every route is in the code, the template and the contract.
func TestRoutes(t *testing.T) {
	var routes []string
	for _, resource := range decode(t, read(t, "template.yaml"))["Resources"].(object) {
		events, _ := at(resource, "Properties.Events").(object)
		for _, event := range events {
			routes = append(routes, fmt.Sprint(at(event, "Properties.Method"), " ", at(event, "Properties.Path")))
		}
	}
	slices.Sort(routes)
	want := slices.Sorted(maps.Keys(api.Routes(nil, nil)))
	if !slices.Equal(routes, want) {
		t.Errorf("the routes of the template are %q, want those of api.Routes, %q", routes, want)
	}
	paths := decode(t, string(plantstore.OpenAPI))["paths"].(object)
	for _, route := range want {
		method, path, _ := strings.Cut(route, " ")
		if at(paths[path], strings.ToLower(method)) == nil {
			t.Errorf("openapi.yaml lacks %s", route)
		}
	}
}

// The contract describes the token and the key as the code takes them. oasdiff takes a change of these for an addition.
func TestContract(t *testing.T) {
	contract := decode(t, string(plantstore.OpenAPI))
	for path, want := range map[string]any{
		"components.securitySchemes.bearerAuth.type":   "http",
		"components.securitySchemes.bearerAuth.scheme": "bearer",
		"components.parameters.Idempotency-Key.schema": object{
			"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$",
		},
	} {
		if got := at(contract, path); !reflect.DeepEqual(got, want) {
			t.Errorf("openapi.yaml: %s = %v, want %v", path, got, want)
		}
	}
}

// samconfig.toml sets every parameter in both environments, because one that is left out keeps its old value. In both,
// SAM builds in the source, so that the functions know their commit, and has a folder of its own for code, so that deleting
// one stack leaves the other's code.
func TestEnvironments(t *testing.T) {
	type row struct{ section, setting string }
	tests := []row{
		{section: "default.global", setting: `stack_name = "plant-store-dev"`},
		{section: "default.global", setting: `build_in_source = true`},
		{section: "default.deploy", setting: `s3_prefix = "plant-store-dev"`},
		{section: "default.deploy", setting: `fail_on_empty_changeset = false`},
		{section: "production.global", setting: `stack_name = "plant-store-production"`},
		{section: "production.global", setting: `build_in_source = true`},
		{section: "production.deploy", setting: `s3_prefix = "plant-store-production"`},
		{section: "production.deploy", setting: `fail_on_empty_changeset = false`},
		{section: "production.deploy", setting: `confirm_changeset = true`},
	}
	for name := range decode(t, read(t, "template.yaml"))["Parameters"].(object) {
		setting := `parameter_overrides = ".*\b` + name + `=`
		tests = append(tests, row{"default.deploy", setting}, row{"production.deploy", setting})
	}
	sections := map[string]string{}
	for section := range strings.SplitSeq(read(t, "samconfig.toml"), "\n[") {
		name, settings, _ := strings.Cut(section, ".parameters]")
		sections[name] = settings
	}
	for _, test := range tests {
		if !regexp.MustCompile(`(?m)^` + test.setting).MatchString(sections[test.section]) {
			t.Errorf("%s lacks %s", test.section, test.setting)
		}
	}
}

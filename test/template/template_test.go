package template

import (
	"fmt"
	"strings"
	"testing"
)

// What of template.yaml the service depends on and no linter knows.
func TestTemplate(t *testing.T) {
	for _, problem := range checkTemplate(read(t, "template.yaml"), read(t, "Makefile"), logLines(t)) {
		t.Error(problem)
	}
}

// The checks notice a change of a single word.
func TestTemplateChecksNotice(t *testing.T) {
	content, makefile, lines := read(t, "template.yaml"), read(t, "Makefile"), logLines(t)
	tests := []struct {
		name, old, changed string
	}{
		{"an alarm on a dimension that AWS does not know", "{Name: FunctionName,", "{Name: Function,"},
		{"an alarm on a resource of another kind", "{Name: ApiId, Value: !Ref HttpApi}", "{Name: ApiId, Value: !Ref PlantsTable}"},
		{"an alarm on an operation that nobody does", "{Name: Operation, Value: PutItem}", "{Name: Operation, Value: GetItem}"},
		{"an alarm on one dimension of two", "        - {Name: Operation, Value: GetItem}\n", ""},
		{"an alarm on a REST API's metric", "MetricName: 5xx", "MetricName: 5XXError"},
		{"an alarm on a metric that no filter emits", "MetricName: Unavailable}", "MetricName: Availability}"},
		{"an alarm that calculates with nothing", "(unavailable +", "(availability +"},
		{"an alarm that tells nobody", "      AlarmActions: !If [HasAlarmTopic, [!Ref AlarmTopic], !Ref AWS::NoValue]\n", ""},
		{"an alarm on a wrong sum", "Stat: SampleCount", "Stat: Sum"},
		{"an alarm on a share that is no percentage", "100 * (", "1 * ("},
		{"an alarm on an average", "Statistic: Sum", "Statistic: Average"},
		{"an alarm that rings while all is well", "GreaterThanThreshold", "LessThanThreshold"},
		{"an alarm that waits for a hundredfold", "Threshold: 1000", "Threshold: 100000"},
		{"an alarm on the fastest", "p99", "p1"},
		{"an alarm that rings without traffic", "notBreaching", "breaching"},
		{"an alarm on an hour", "Period: 60", "Period: 3600"},
		{"an alarm's part on an hour", "            Period: 60", "            Period: 3600"},
		{"an alarm that one slow minute rings", "DatapointsToAlarm: 2", "DatapointsToAlarm: 1"},
		{"an alarm of the authorizer on createplant", "MetricName: Errors\n      Dimensions:\n        - {Name: FunctionName, Value: !Ref AuthorizerFunction}", "MetricName: Errors\n      Dimensions:\n        - {Name: FunctionName, Value: !Ref CreatePlantFunction}"},
		{"an alarm of createplant on the authorizer", "MetricName: Throttles\n      Dimensions:\n        - {Name: FunctionName, Value: !Ref CreatePlantFunction}", "MetricName: Throttles\n      Dimensions:\n        - {Name: FunctionName, Value: !Ref AuthorizerFunction}"},
		{"a filter on a field that is not logged", "{ $.code = 5004 }", "{ $.status = 5004 }"},
		{"a filter that takes a number for another", "$.code = 5002 ||", "$.code = 5001 ||"},
		{"a filter that takes too much", "$.code < 3000", "$.code < 4000"},
		{"a filter on another log", "LogGroupName: !Ref AuthorizerLog", "LogGroupName: !Ref AccessLog"},
		{"a filter that takes its value from nowhere", "$.duration_ms\n", "$.duration\n"},
		{"a filter with a default and dimensions", "          DefaultValue: 0\n", "          DefaultValue: 0\n          Dimensions: [{Key: code, Value: $.code}]\n"},
		{"a metric that the dashboard shows under another name", `"Conflicting", {`, `"Conflict", {`},
		{"a policy for another action", "Action: dynamodb:PutItem", "Action: dynamodb:*"},
		{"a policy on another table", "Resource: !GetAtt TokensTable.Arn", "Resource: !GetAtt PlantsTable.Arn"},
		{"a role for another service", "Service: lambda.", "Service: ec2."},
		{"a managed policy besides", "    Properties:\n      AssumeRolePolicyDocument:", "    Properties:\n      ManagedPolicyArns: [arn:aws:iam::aws:policy/AdministratorAccess]\n      AssumeRolePolicyDocument:"},
		{"a variable with another name", "PLANTS_TABLE:", "PLANT_TABLE:"},
		{"a variable with another table", "TOKENS_TABLE: !Ref TokensTable", "TOKENS_TABLE: !Ref PlantsTable"},
		{"a variable that follows a parameter", "AWS_ENDPOINT_URL_DYNAMODB: ''", "AWS_ENDPOINT_URL_DYNAMODB: !Ref Stage"},
		{"a variable that Go does not understand", "GOGC: '400'", "GOGC: 'on'"},
		{"a function with less memory", "MemorySize: 256", "MemorySize: 128"},
		{"a function that is not traced", "Tracing: Active", "Tracing: PassThrough"},
		{"an API for one request a second", "ThrottlingRateLimit: 1000", "ThrottlingRateLimit: 1"},
		{"an address under another name", "  Url:\n", "  Uri:\n"},
		{"a route without the authorizer", "            PayloadFormatVersion: '2.0'", "            Auth: {Authorizer: NONE}\n            PayloadFormatVersion: '2.0'"},
		{"a cached verdict", "ReauthorizeEvery: 0", "ReauthorizeEvery: 1"},
		{"a payload version that is a number", "AuthorizerPayloadFormatVersion: '2.0'", "AuthorizerPayloadFormatVersion: 2.0"},
		{"an authorizer that `sam local` cannot read", "!Sub '${AuthorizerFunction.Arn}:live'", "!Ref AuthorizerFunction.Alias"},
		{"an API that does not wait for the alias", "    DependsOn: AuthorizerFunctionAliaslive", "    # DependsOn: AuthorizerFunctionAliaslive"},
		{"a version that is not published", "AutoPublishAliasAllProperties: true", "AutoPublishAliasAllProperties: false"},
		{"a function without a target", "  CreatePlantFunction:", "  MakePlantFunction:"},
		{"a function's log without a group", "LogGroup: !Ref AuthorizerLog", "LogGroup: !Ref AccessLog"},
		{"a log that grows for ever", "      RetentionInDays: 30\n", ""},
		{"an access log with what the authorizer found", "$context.authorizer.error", "$context.authorizer.subject"},
		{"an access log with a header", "$context.routeKey", "$context.identity.userAgent"},
		{"a table that goes with its stack", "DeletionPolicy: RetainExceptOnCreate", "DeletionPolicy: Delete"},
		{"a table that goes when it is replaced", "UpdateReplacePolicy: Retain", "UpdateReplacePolicy: Delete"},
		{"a table with another key", "AttributeName: digest, A", "AttributeName: hash, A"},
		{"a table that keeps what has expired", "        Enabled: true", "        Enabled: false"},
		{"a table that is never protected", "DeletionProtectionEnabled: !If [Guarded, true, false]", "DeletionProtectionEnabled: false"},
		{"a deployment that waits for itself", "!Ref InternalErrorsAlarm", "!Ref GatewayAlarm"},
		{"a deployment that watches no alarm", "          - !Ref ErrorRateAlarm", "          - !Ref ErrorAlarm"},
		{"a function with a URL of its own", "      Timeout: 10\n", "      Timeout: 10\n      FunctionUrlConfig: {AuthType: NONE}\n"},
		{"a permission for everybody", "  PlantsTable:\n    Type:", "  Anybody: {Type: AWS::Lambda::Permission}\n  PlantsTable:\n    Type:"},
		{"a table that lets others in", "      BillingMode: PAY_PER_REQUEST\n", "      BillingMode: PAY_PER_REQUEST\n      ResourcePolicy: {}\n"},
		{"an API that tells browsers to come", "      DefaultRouteSettings:", "      CorsConfiguration: true\n      DefaultRouteSettings:"},
		{"a deployment with one alarm less", "          - !Ref CreatePlantThrottlesAlarm\n", ""},
		{"an alarm that is switched off", "      AlarmDescription: API Gateway", "      ActionsEnabled: false\n      AlarmDescription: API Gateway"},
		{"a parameter that takes anything", "    AllowedValues: [dev, staging, production]\n", ""},
	}
	for _, test := range tests {
		if !strings.Contains(content, test.old) {
			t.Errorf("%s: template.yaml has no %q", test.name, test.old)
		}
		changed := strings.Replace(content, test.old, test.changed, 1)
		if _, err := parseTemplate(changed); err != nil {
			t.Errorf("%s: the changed template is no YAML: %v", test.name, err)
		}
		if len(checkTemplate(changed, makefile, lines)) == 0 {
			t.Errorf("%s: checkTemplate with %q for %q finds no problem", test.name, test.changed, test.old)
		}
	}
}

// `make deploy ENV=...` asks nothing: each stage has an environment of the same
// name, with all that the template and SAM want to know.
func TestEnvironmentsAreComplete(t *testing.T) {
	parsed, err := parseTemplate(read(t, "template.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := read(t, "samconfig.toml")
	for _, stage := range parsed.list("Parameters.Stage.AllowedValues") {
		_, block, _ := strings.Cut(config, fmt.Sprintf("\n[%s.deploy.parameters]\n", stage))
		block, _, _ = strings.Cut(block, "\n[")
		for _, want := range []string{
			fmt.Sprintf(`stack_name = "plant-store-%s"`, stage), "resolve_s3 = true", `capabilities = "CAPABILITY_IAM"`,
			"confirm_changeset = false", "fail_on_empty_changeset = false",
			fmt.Sprintf(`Stage = "%s"`, stage), "AlarmTopic = ", `"file://.aws-sam/build/parameters.yaml"`,
		} {
			if !strings.Contains(block, want) {
				t.Errorf("samconfig.toml's environment %s lacks %s", stage, want)
			}
		}
	}
	_, byDefault, _ := strings.Cut(config, "[default.deploy.parameters]")
	byDefault, dev, _ := strings.Cut(byDefault, "[dev.deploy.parameters]")
	if dev, _, _ = strings.Cut(dev, "\n["); strings.TrimSpace(byDefault) != strings.TrimSpace(dev) {
		t.Errorf("`sam deploy` uses %s, want what dev has: %s", byDefault, dev)
	}
	if got := strings.Join(parsed.names("Parameters"), " "); got != "AlarmTopic Architecture Stage" {
		t.Errorf("the parameters are %s: say here what samconfig.toml must set", got)
	}
}

// problems are what is wrong with the template.
type problems []string

func (p *problems) add(format string, arguments ...any) {
	*p = append(*p, fmt.Sprintf(format, arguments...))
}

func checkTemplate(content, makefile string, lines []logLine) problems {
	t, err := parseTemplate(content)
	if err != nil {
		return problems{err.Error()}
	}
	var p problems
	checkPaths(&p, t)
	checkDoors(&p, t)
	checkParameters(&p, t)
	checkFunctions(&p, t, makefile)
	checkRoutes(&p, t)
	checkLogs(&p, t)
	checkDeployments(&p, t)
	checkMetrics(&p, t)
	checkLogLines(&p, t, lines)
	return p
}

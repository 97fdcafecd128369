package plantstore

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
		{"a filter on a field that is not logged", "{ $.code = 5004 }", "{ $.status = 5004 }"},
		{"a filter that takes a number for another", "$.code = 5002 ||", "$.code = 5001 ||"},
		{"a filter that takes too much", "$.code < 3000", "$.code < 4000"},
		{"a filter on another log", "LogGroupName: !Ref AuthorizerLog", "LogGroupName: !Ref AccessLog"},
		{"a filter that takes its value from nowhere", "$.duration_ms\n", "$.duration\n"},
		{"a filter with a default and dimensions", "          DefaultValue: 0\n", "          DefaultValue: 0\n          Dimensions: [{Key: code, Value: $.code}]\n"},
		{"a metric that the dashboard shows under another name", `"Conflicting", {`, `"Conflict", {`},
		{"a policy for another action", "Action: dynamodb:PutItem", "Action: dynamodb:*"},
		{"a policy on another table", "Resource: !GetAtt TokensTable.Arn", "Resource: !GetAtt PlantsTable.Arn"},
		{"a managed policy besides", "    Properties:\n      AssumeRolePolicyDocument:", "    Properties:\n      ManagedPolicyArns: [arn:aws:iam::aws:policy/AdministratorAccess]\n      AssumeRolePolicyDocument:"},
		{"a variable with another name", "PLANTS_TABLE:", "PLANT_TABLE:"},
		{"a variable with another table", "TOKENS_TABLE: !Ref TokensTable", "TOKENS_TABLE: !Ref PlantsTable"},
		{"a variable that follows a parameter", "AWS_ENDPOINT_URL_DYNAMODB: ''", "AWS_ENDPOINT_URL_DYNAMODB: !Ref Stage"},
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
		{"a table that is never protected", "DeletionProtectionEnabled: !If [Guarded, true, false]", "DeletionProtectionEnabled: false"},
		{"a deployment that waits for itself", "!Ref InternalErrorsAlarm", "!Ref GatewayAlarm"},
		{"a deployment that watches no alarm", "          - !Ref ErrorRateAlarm", "          - !Ref ErrorAlarm"},
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
	checkParameters(&p, t)
	checkFunctions(&p, t, makefile)
	checkRoutes(&p, t)
	checkLogs(&p, t)
	checkDeployments(&p, t)
	checkMetrics(&p, t)
	checkLogLines(&p, t, lines)
	return p
}

func checkPaths(p *problems, t template) {
	const (
		resources   = "Resources."
		authorizer  = resources + "HttpApi.Properties.Auth.Authorizers.TokenAuthorizer."
		createplant = resources + "CreatePlantFunction.Properties."
		logsAndX    = " map[Action:[xray:PutTraceSegments xray:PutTelemetryRecords] Effect:Allow Resource:*]]"
	)
	role := func(action, table, log string) string {
		return "[map[PolicyDocument:map[Statement:[map[Action:dynamodb:" + action + " Effect:Allow Resource:!GetAtt " + table + ".Arn] " +
			"map[Action:[logs:CreateLogStream logs:PutLogEvents] Effect:Allow Resource:!GetAtt " + log + ".Arn]" + logsAndX +
			" Version:2012-10-17] PolicyName:function]]"
	}
	guarded := "map[!If:[Guarded true false]]"
	for _, test := range []struct {
		why, path, want string
	}{
		{"every route has the authorizer", resources + "HttpApi.Properties.Auth.DefaultAuthorizer", "TokenAuthorizer"},
		{"a revoked token is refused at once", authorizer + "Identity.ReauthorizeEvery", "0"},
		{"the authorizer runs without an Authorization header too", authorizer + "Identity.Context", "[routeKey]"},
		{"the authorizer answers with a context", authorizer + "EnableSimpleResponses", "true"},
		{"the handlers read payload format 2.0", authorizer + "AuthorizerPayloadFormatVersion", "2.0"},
		{"API Gateway may call the authorizer", authorizer + "EnableFunctionDefaultPermissions", "true"},
		{"the authorizer's alias, as `sam local` can read it", authorizer + "FunctionArn", "!Sub ${AuthorizerFunction.Arn}:live"},
		{"that alias is there before the API", resources + "HttpApi.DependsOn", "AuthorizerFunctionAliaslive"},
		{"the alias", "Globals.Function.AutoPublishAlias", "live"},
		{"the only route", createplant + "Events.CreatePlant.Properties.Path", "/plants"},
		{"the only method", createplant + "Events.CreatePlant.Properties.Method", "POST"},
		{"createplant's deadline, as in package gateway", createplant + "Timeout", "10"},
		{"the authorizer's deadline, as in package gateway", resources + "AuthorizerFunction.Properties.Timeout", "5"},
		{"createplant's table", createplant + "Environment.Variables.PLANTS_TABLE", "!Ref PlantsTable"},
		{"the authorizer's table", resources + "AuthorizerFunction.Properties.Environment.Variables.TOKENS_TABLE", "!Ref TokensTable"},
		{"`sam local` can set the endpoint", "Globals.Function.Environment.Variables.AWS_ENDPOINT_URL_DYNAMODB", ""},
		{"createplant has its role", createplant + "Role", "!GetAtt CreatePlantRole.Arn"},
		{"the authorizer has its role", resources + "AuthorizerFunction.Properties.Role", "!GetAtt AuthorizerRole.Arn"},
		{"createplant may put, log and trace", resources + "CreatePlantRole.Properties.Policies", role("PutItem", "PlantsTable", "CreatePlantLog")},
		{"the authorizer may get, log and trace", resources + "AuthorizerRole.Properties.Policies", role("GetItem", "TokensTable", "AuthorizerLog")},
		{"createplant's role has nothing besides", resources + "CreatePlantRole.Properties.ManagedPolicyArns", "<nil>"},
		{"the authorizer's role has nothing besides", resources + "AuthorizerRole.Properties.ManagedPolicyArns", "<nil>"},
		{"expired tokens are removed", resources + "TokensTable.Properties.TimeToLiveSpecification.AttributeName", "expires_at"},
		{"plants outlive their stack, without an intrinsic function", resources + "PlantsTable.DeletionPolicy", "RetainExceptOnCreate"},
		{"tokens outlive their stack, without an intrinsic function", resources + "TokensTable.DeletionPolicy", "RetainExceptOnCreate"},
		{"plants are protected by stage", resources + "PlantsTable.Properties.DeletionProtectionEnabled", guarded},
		{"tokens are protected by stage", resources + "TokensTable.Properties.DeletionProtectionEnabled", guarded},
		{"all stages but dev are guarded", "Conditions.Guarded", "map[!Not:[map[!Equals:[!Ref Stage dev]]]]"},
		{"plants can be restored", resources + "PlantsTable.Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"},
		{"tokens can be restored", resources + "TokensTable.Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"},
	} {
		if got := fmt.Sprint(t.at(test.path)); got != test.want {
			p.add("%s: %s = %s, want %s", test.why, test.path, got, test.want)
		}
	}
}

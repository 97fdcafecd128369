package template

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

const (
	function = "AWS::Serverless::Function"
	httpAPI  = "AWS::Serverless::HttpApi"
	role     = "AWS::IAM::Role"
	table    = "AWS::DynamoDB::Table"
	logGroup = "AWS::Logs::LogGroup"
	filter   = "AWS::Logs::MetricFilter"
	alarm    = "AWS::CloudWatch::Alarm"

	deployments = "Globals.Function.DeploymentPreference"
)

// TestProperties checks what every resource of a type must have and no linter knows.
func TestProperties(t *testing.T) {
	const (
		p      = "Properties."
		events = `<nil>|<(\w+:<Properties:<ApiId:!Ref HttpApi Method:\w+ Path:\S+ PayloadFormatVersion:2\.0> ` +
			`Type:HttpApi> ?)+>`
		// Every request has a route key, and no verdict is cached. `sam local` cannot read !Ref X.Alias.
		auth = `<Authorizers:<\w+:<AuthorizerPayloadFormatVersion:2\.0 EnableFunctionDefaultPermissions:true ` +
			`EnableSimpleResponses:true FunctionArn:!Sub \$\{\w+\.Arn\}:live ` +
			`Identity:<Context:<routeKey> ReauthorizeEvery:0>>> DefaultAuthorizer:\w+>`
		accessLog = `<DestinationArn:!GetAtt \w+\.Arn Format:\{("\w+":"\$context\.(requestId|requestTimeEpoch|` +
			`routeKey|status|error\.message|responseLatency|authorizer\.error|` +
			`integration\.(error|integrationStatus|latency))"(, ?|\}))+>`
		logging = `<ApplicationLogLevel:INFO LogFormat:JSON LogGroup:!Ref \w+ SystemLogLevel:WARN>`
		trust   = `<Statement:<<Action:sts:AssumeRole Effect:Allow Principal:<Service:(lambda|codedeploy)\.amazonaws\.com>>> ` +
			`Version:\S+>`
		policies = `<nil>|<<PolicyDocument:<Statement:<<Action:dynamodb:\w+ Effect:Allow Resource:!GetAtt \w+\.Arn> ` +
			`<Action:<logs:CreateLogStream logs:PutLogEvents> Effect:Allow Resource:!GetAtt \w+\.Arn>( (<!If \w+ )?` +
			`<Action:<xray:PutTraceSegments xray:PutTelemetryRecords> Effect:Allow Resource:\*>` +
			`( !Ref AWS::NoValue>)?)?> Version:\S+> PolicyName:\w+>>`
		metric = `<<(DefaultValue:0 )?MetricName:\w+ MetricNamespace:!Sub \w+/\$\{AWS::StackName\} ` +
			`MetricValue:\S+ Unit:\w+>>`
	)
	template := parse(t, "template.yaml")
	attribute := find(`dynamodbav:"(\w+),unixtime"`, read(t, "internal/dynamo/tokens.go"))[0][1]
	expiry := "<AttributeName:" + attribute + " Enabled:true>"
	// The headers are those of internal/gateway, which imitates the API, and the methods those of the routes.
	cors := fmt.Sprintf("<!If HasAllowedOrigins <allowHeaders:<%s> allowMethods:<%s> "+
		"allowOrigins:<!Split , !Ref AllowedOrigins> exposeHeaders:<%s> maxAge:%s> !Ref AWS::NoValue>",
		gateway(t, "allowHeaders"), methods(template), gateway(t, "exposeHeaders"), gateway(t, "maxAge"))
	for _, rule := range []struct{ why, kind, path, want string }{
		{"each change publishes a version", function, p + "AutoPublishAliasAllProperties", "true"},
		{"our log lines are kept, Lambda's are not", function, p + "LoggingConfig", logging},
		{"every route has the authorizer", function, p + "Events", events},
		{"every request runs the authorizer", httpAPI, p + "Auth", auth},
		{"the API needs the authorizer's alias", httpAPI, "DependsOn", `\w+Aliaslive`},
		{"a flood is bounded", httpAPI, p + "DefaultRouteSettings", `<\w+BurstLimit:!Ref \w+ \w+RateLimit:!Ref \w+>`},
		{"a domain closes AWS's address", httpAPI, p + "DisableExecuteApiEndpoint", `<!If HasDomain true false>`},
		{"pages of other origins need a parameter", httpAPI, p + "CorsConfiguration", cors},
		{"clients choose nothing in the access log", httpAPI, p + "AccessLogSettings", accessLog},
		{"no stranger takes a role", role, p + "AssumeRolePolicyDocument", trust},
		{"a role allows one action on one table, its log and traces", role, p + "Policies", policies},
		{"CodeDeploy may shift traffic", role, p + "ManagedPolicyArns", `<nil>|<!Sub arn:\S+/AWSCodeDeployRoleForLambda>`},
		{"a table survives its stack", table, "DeletionPolicy", "RetainExceptOnCreate"},
		{"a table survives its replacement", table, "UpdateReplacePolicy", "Retain"},
		{"a table can be restored", table, p + "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"},
		{"the stage protects a table", table, p + "DeletionProtectionEnabled", `<!If Guarded true false>`},
		{"a log does not grow for ever", logGroup, p + "RetentionInDays", `!Ref LogRetention`},
		{"stacks share no metric, and DefaultValue forbids Dimensions", filter, p + "MetricTransformations", metric},
		{"an alarm notifies", alarm, p + "AlarmActions", `.*<!Ref AlarmTopic>.*`},
		{"the end of an alarm notifies", alarm, p + "OKActions", `.*<!Ref AlarmTopic>.*`},
		{"an alarm is enabled", alarm, p + "ActionsEnabled", "<nil>|true"},
		{"no traffic is no alarm", alarm, p + "TreatMissingData", "notBreaching"},
		{"an alarm fires above its threshold", alarm, p + "ComparisonOperator", "GreaterThan.*Threshold"},
		{"every stage but dev is guarded", "", "Conditions.Guarded", "<!Not <!Equals !Ref Stage dev>>"},
		{"sam local sets what is declared", "", "Globals.Function.Environment.Variables.AWS_ENDPOINT_URL_DYNAMODB", ""},
		{"DynamoDB removes expired tokens", "", "Resources.TokensTable.Properties.TimeToLiveSpecification", expiry},
	} {
		for name, resource := range template.resources(t, rule.kind) {
			if got := resource.text(rule.path); find(`^(`+rule.want+`)$`, got) == nil {
				t.Errorf("%s: %s of %s = %s, want %s", rule.why, rule.path, name, got, rule.want)
			}
		}
	}
}

// gateway returns the value of a constant of internal/gateway, a list with spaces.
func gateway(t *testing.T, constant string) string {
	t.Helper()
	found := find(constant+` += "(.+)"`, read(t, "internal/gateway/cors.go"))
	return strings.ReplaceAll(found[0][1], ",", " ")
}

// methods returns the methods of the routes in the template, with spaces.
func methods(template tree) string {
	found := map[string]bool{}
	for _, route := range find(`Method:(\w+) Path:`, template.text("Resources")) {
		found[route[1]] = true
	}
	return strings.Join(slices.Sorted(maps.Keys(found)), " ")
}

// TestRoutes checks that the template and openapi.yaml have the same routes.
func TestRoutes(t *testing.T) {
	got, want := map[string]bool{}, map[string]bool{}
	for _, route := range find(`Method:(\w+) Path:([^ ]+)`, parse(t, "template.yaml").text("Resources")) {
		got[strings.ToLower(route[1])+" "+route[2]] = true
	}
	for path, methods := range parse(t, "openapi.yaml").sub("paths") {
		for method := range methods.(tree) {
			want[method+" "+path] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the routes are %v, want those of openapi.yaml, %v", got, want)
	}
}

// TestDoors allows only resources and properties that let nobody in past the authorizer. A function URL, a permission
// or a table's policy could.
func TestDoors(t *testing.T) {
	template := parse(t, "template.yaml")
	doors := map[string]string{ // "" allows every property
		alarm: "", filter: "", "AWS::CloudWatch::Dashboard": "",
		"AWS::ApiGatewayV2::DomainName": "", "AWS::ApiGatewayV2::ApiMapping": "",
		logGroup: "LogGroupName RetentionInDays",
		role:     "AssumeRolePolicyDocument ManagedPolicyArns PermissionsBoundary Policies",
		table: "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		httpAPI: "AccessLogSettings Auth CorsConfiguration DefaultRouteSettings DisableExecuteApiEndpoint",
		function: "AutoPublishAliasAllProperties Description Environment Events LoggingConfig Role Timeout " +
			"VersionDescription",
		"Globals": "Architectures AutoPublishAlias CodeUri DeploymentPreference Environment " +
			"Handler MemorySize ReservedConcurrentExecutions Runtime Tracing",
	}
	entries := maps.Clone(template.sub("Resources"))
	for name, properties := range template.sub("Globals") {
		entries["Globals."+name] = tree{"Type": "Globals", "Properties": properties}
	}
	for name, entry := range entries {
		allowed, known := doors[entry.(tree).text("Type")]
		if !known {
			t.Errorf("%s is a %s: if that lets nobody in, allow it in this test", name, entry.(tree)["Type"])
		}
		for property := range entry.(tree).sub("Properties") {
			if allowed != "" && !slices.Contains(strings.Fields(allowed), property) {
				t.Errorf("%s has the property %s: if that lets nobody in, allow it in this test", name, property)
			}
		}
	}
}

// TestDeployments checks that a deployment watches alarms on our metrics and on each function's errors and throttles.
// None is on the API, which waits for the deployment.
func TestDeployments(t *testing.T) {
	template, watched := parse(t, "template.yaml"), ""
	names := find(`!Ref (\w+)[ >]`, template.text(deployments+".Alarms"))
	for _, name := range names {
		watched += template.resources(t, alarm)[name[1]].text("Properties")
	}
	if strings.Contains(watched, "<nil>") || strings.Contains(watched, "AWS/ApiGateway") || len(names) > 10 {
		t.Errorf("a deployment watches %v, want ten alarms at most, and none on the API", names)
	}
	for name := range template.resources(t, function) {
		onFunction := "Value:!Ref " + name + `>> \S+ MetricName:`
		for _, want := range []string{onFunction + "Errors", onFunction + "Throttles", "AWS::StackName"} {
			if find(want, watched) == nil {
				t.Errorf("a deployment watches %v, want an alarm on %s", names, want)
			}
		}
	}
}

// TestEnvironments checks that `make deploy ENV=...` asks nothing: each stage has an environment of its name that sets
// every parameter, because SAM keeps the old value of one that is left out. `sam deploy` alone deploys dev.
func TestEnvironments(t *testing.T) {
	template, settings, environments := parse(t, "template.yaml"), []string{
		"resolve_s3 = true", "capabilities = ", "confirm_changeset = false", "fail_on_empty_changeset = false",
		`"file://.aws-sam/build/parameters.yaml"`, `stack_name = "plant-store-%s"`, ` Stage = "%s"`,
	}, map[string]string{}
	for name := range template.sub("Parameters") {
		if !strings.Contains(read(t, "Makefile"), "'"+name+": ") { // `sam build` writes it into parameters.yaml
			settings = append(settings, " "+name+" = ")
		}
	}
	for _, match := range find(`(?m)^\[(\w+)\.deploy\.parameters\]\n((?:[^\n[].*\n)+)`, read(t, "samconfig.toml")) {
		environments[match[1]] = match[2]
	}
	if environments["default"] != environments["dev"] {
		t.Errorf("samconfig.toml's default = %s, want that of dev, %s", environments["default"], environments["dev"])
	}
	for _, stage := range template.list("Parameters.Stage.AllowedValues") {
		for _, setting := range settings {
			setting = strings.ReplaceAll(setting, "%s", stage.(string))
			if !strings.Contains(environments[stage.(string)], setting) {
				t.Errorf("samconfig.toml's environment %s lacks %s", stage, setting)
			}
		}
	}
}

// TestDeploy checks that `sam deploy` reads each environment, and then calls AWS.
func TestDeploy(t *testing.T) {
	if _, err := exec.LookPath("sam"); err != nil {
		processtest.Lacks(t, "SAM: pip install --no-deps -r tools/requirements.txt")
	}
	variables, calls := processtest.AWS(t)
	folder := t.TempDir()
	run(t, "sh", "-c", `mkdir -p "$0/.aws-sam/build" && cp template.yaml samconfig.toml "$0" && echo 'Shift: gradual' >"$0/.aws-sam/build/parameters.yaml"`, folder)
	for _, stage := range parse(t, "template.yaml").list("Parameters.Stage.AllowedValues") {
		before := calls()
		command := exec.CommandContext(t.Context(), "sam", "deploy", "--config-env", stage.(string))
		command.Dir, command.Env = folder, variables
		if out, err := command.CombinedOutput(); calls() == before {
			t.Errorf("sam deploy --config-env %s does not call AWS: %v\n%s", stage, err, out)
		}
	}
}

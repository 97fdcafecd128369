package template

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

const (
	function = "AWS::Serverless::Function"
	httpAPI  = "AWS::Serverless::HttpApi"
	role     = "AWS::IAM::Role"
	table    = "AWS::DynamoDB::Table"
	logGroup = "AWS::Logs::LogGroup"
	filter   = "AWS::Logs::MetricFilter"
	alarm    = "AWS::CloudWatch::Alarm"
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
		trust = `<Statement:<<Action:sts:AssumeRole Effect:Allow Principal:<Service:lambda\.amazonaws\.com>>> ` +
			`Version:\S+>`
		policies = `<<PolicyDocument:<Statement:<<Action:dynamodb:\w+ Effect:Allow Resource:!GetAtt \w+\.Arn> ` +
			`<Action:<logs:CreateLogStream logs:PutLogEvents> Effect:Allow Resource:!GetAtt \w+\.Arn>( (<!If \w+ )?` +
			`<Action:<xray:PutTraceSegments xray:PutTelemetryRecords> Effect:Allow Resource:\*>` +
			`( !Ref AWS::NoValue>)?)?> Version:\S+> PolicyName:\w+>>`
		metric = `<<(DefaultValue:0 )?MetricName:\w+ MetricNamespace:!Sub \w+/\$\{AWS::StackName\} ` +
			`MetricValue:\S+ Unit:\w+>>`
	)
	template := parse(t, "template.yaml")
	for _, rule := range []struct{ why, kind, path, want string }{
		{"the Makefile builds a function", function, "Metadata.BuildMethod", "makefile"},
		{"each change publishes a version", function, p + "AutoPublishAliasAllProperties", "true"},
		{"our log lines stay JSON", function, p + "LoggingConfig", `<LogFormat:Text LogGroup:!Ref \w+>`},
		{"SAM's own role could do more", function, p + "Role", `!GetAtt \w+\.Arn`},
		{"API Gateway waits at most 30 s", function, p + "Timeout", `\d|[12]\d`},
		{"every route has the authorizer", function, p + "Events", events},
		{"every request runs the authorizer", httpAPI, p + "Auth", auth},
		{"the API needs the authorizer's alias", httpAPI, "DependsOn", `\w+Aliaslive`},
		{"a flood is bounded", httpAPI, p + "DefaultRouteSettings", `<\w+BurstLimit:\d+ \w+RateLimit:\d+>`},
		{"clients choose nothing in the access log", httpAPI, p + "AccessLogSettings", accessLog},
		{"Lambda alone takes a role", role, p + "AssumeRolePolicyDocument", trust},
		{"a role allows one action on one table, its log and traces", role, p + "Policies", policies},
		{"a table survives its stack", table, "DeletionPolicy", "RetainExceptOnCreate"},
		{"a table survives its replacement", table, "UpdateReplacePolicy", "Retain"},
		{"a table can be restored", table, p + "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"},
		{"the stage protects a table", table, p + "DeletionProtectionEnabled", `<!If Guarded true false>`},
		{"a log does not grow for ever", logGroup, p + "RetentionInDays", `[1-9]\d*`},
		{"stacks share no metric, and DefaultValue forbids Dimensions", filter, p + "MetricTransformations", metric},
		{"an alarm notifies", alarm, p + "AlarmActions", `.*<!Ref AlarmTopic>.*`},
		{"the end of an alarm notifies", alarm, p + "OKActions", `.*<!Ref AlarmTopic>.*`},
		{"an alarm is enabled", alarm, p + "ActionsEnabled", "<nil>|true"},
		{"no traffic is no alarm", alarm, p + "TreatMissingData", "notBreaching"},
		{"an alarm fires above its threshold", alarm, p + "ComparisonOperator", "GreaterThan.*Threshold"},
	} {
		for name, resource := range template.resources(t, rule.kind) {
			if got := resource.text(rule.path); find(`^(`+rule.want+`)$`, got) == nil {
				t.Errorf("%s: %s of %s = %s, want %s", rule.why, rule.path, name, got, rule.want)
			}
		}
	}
	for name := range template.sub("Parameters") {
		parameter := template.sub("Parameters." + name)
		if parameter["Description"] == nil || parameter["AllowedValues"] == nil && parameter["AllowedPattern"] == nil {
			t.Errorf("parameter %s needs a Description, and AllowedValues or an AllowedPattern", name)
		}
	}
}

// TestReferences checks what other files need of the template.
func TestReferences(t *testing.T) {
	template, openapi := parse(t, "template.yaml"), parse(t, "openapi.yaml")
	if got := template.text("Conditions.Guarded"); got != "<!Not <!Equals !Ref Stage dev>>" {
		t.Errorf("Guarded = %s, want every stage but dev", got)
	}
	for _, expiry := range find(`dynamodbav:"(\w+),unixtime"`, read(t, "internal/dynamo/tokens.go")) {
		got := template.text("Resources.TokensTable.Properties.TimeToLiveSpecification")
		if got != "<AttributeName:"+expiry[1]+" Enabled:true>" {
			t.Errorf("DynamoDB removes tokens by %s, want by %s", got, expiry)
		}
	}
	routes := find(`Method:(\w+) Path:([^ ]+)`, template.text("Resources"))
	for _, route := range routes {
		if openapi.at("paths."+route[2]+"."+strings.ToLower(route[1])) == nil {
			t.Errorf("openapi.yaml lacks the route %s", route[0])
		}
	}
	if len(routes) < len(openapi.sub("paths")) {
		t.Errorf("the template's routes are %v, want those of openapi.yaml", routes)
	}
	for _, output := range find(`OutputKey == "(\w+)"`, read(t, ".ci/smoke-test")) {
		if template.at("Outputs."+output[1]) == nil {
			t.Errorf("the template has no output %s, which .ci/smoke-test reads", output[1])
		}
	}
}

// TestDoors allows only resources and properties that let nobody in past the authorizer. A function URL, a permission
// or a table's policy could.
func TestDoors(t *testing.T) {
	template := parse(t, "template.yaml")
	doors := map[string]string{ // "" allows every property
		alarm: "", filter: "", "AWS::CloudWatch::Dashboard": "",
		logGroup: "LogGroupName RetentionInDays",
		role:     "AssumeRolePolicyDocument Policies",
		table: "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema " +
			"PointInTimeRecoverySpecification TimeToLiveSpecification",
		httpAPI:  "AccessLogSettings Auth DefaultRouteSettings",
		function: "AutoPublishAliasAllProperties Description Environment Events LoggingConfig Role Timeout",
		"Globals": "Architectures AutoPublishAlias CodeUri DeploymentPreference Environment " +
			"Handler MemorySize Runtime Tracing",
	}
	check := func(name, kind string, properties tree) {
		allowed, known := doors[kind]
		if !known {
			t.Errorf("%s is a %s: if that lets nobody in, allow it in this test", name, kind)
		}
		for property := range properties {
			if allowed != "" && !slices.Contains(strings.Fields(allowed), property) {
				t.Errorf("%s has the property %s: if that lets nobody in, allow it in this test", name, property)
			}
		}
	}
	for name := range template.sub("Resources") {
		check(name, template.text("Resources."+name+".Type"), template.sub("Resources."+name+".Properties"))
	}
	for name := range template.sub("Globals") {
		check(name, "Globals", template.sub("Globals."+name))
	}
}

// TestDeployments checks that a guarded stage shifts traffic gradually and watches alarms on our metrics and on each
// function's errors and throttles. None is on the API, which waits for the deployment.
func TestDeployments(t *testing.T) {
	template := parse(t, "template.yaml")
	preference := template.sub("Globals.Function.DeploymentPreference")
	if got := preference.text("Type"); find(`^<!If \w+ (Canary|Linear)\w+ AllAtOnce>$`, got) == nil {
		t.Errorf("deployments are %s, want gradual ones where the stage is guarded", got)
	}
	watched := ""
	names := find(`!Ref (\w+)[ >]`, preference.text("Alarms"))
	for _, name := range names {
		properties := template.resources(t, alarm)[name[1]].text("Properties")
		if properties == "<nil>" || strings.Contains(properties, "AWS/ApiGateway") {
			t.Errorf("a deployment watches %s, want an alarm that is not on the API", name[1])
		}
		watched += properties
	}
	for name := range template.resources(t, function) {
		onFunction := "Value:!Ref " + name + `>> \S+ MetricName:`
		for _, want := range []string{onFunction + "Errors", onFunction + "Throttles", "AWS::StackName"} {
			if find(want, watched) == nil || len(names) > 10 {
				t.Errorf("a deployment watches %v, want ten alarms at most, one on %s", names, want)
			}
		}
	}
}

// TestEnvironments checks that `make deploy ENV=...` asks nothing: each stage has an environment of its name that sets
// every parameter. `sam deploy` alone deploys dev.
func TestEnvironments(t *testing.T) {
	template, makefile, environments := parse(t, "template.yaml"), read(t, "Makefile"), map[string]string{}
	for _, match := range find(`(?m)^\[(\w+)\.deploy\.parameters\]\n((?:\w.*\n)+)`, read(t, "samconfig.toml")) {
		environments[match[1]] = match[2]
	}
	if environments["default"] != environments["dev"] {
		t.Errorf("samconfig.toml's default = %s, want that of dev, %s", environments["default"], environments["dev"])
	}
	for _, item := range template.list("Parameters.Stage.AllowedValues") {
		stage := item.(string)
		want := []string{
			`stack_name = "plant-store-` + stage + `"`, ` Stage = "` + stage + `"`, "resolve_s3 = true",
			"capabilities = ", "confirm_changeset = false", "fail_on_empty_changeset = false",
			`"file://.aws-sam/build/parameters.yaml"`,
		}
		for name := range template.sub("Parameters") {
			if !strings.Contains(makefile, "echo '"+name+": ") { // `sam build` writes it into parameters.yaml
				want = append(want, " "+name+" = ")
			}
		}
		for _, setting := range want {
			if !strings.Contains(environments[stage], setting) {
				t.Errorf("samconfig.toml's environment %s lacks %s", stage, setting)
			}
		}
	}
}

// TestVariables checks that a function declares those variables that its code reads and no other. None follows a
// parameter, whose change would publish no version.
func TestVariables(t *testing.T) {
	template, local := parse(t, "template.yaml"), read(t, "tools/sam-local.json") // which sets only what is declared
	for name, resource := range template.resources(t, function) {
		code := read(t, "cmd/"+command(name)+"/main.go") + read(t, "cmd/internal/environment/environment.go")
		declared := variables(template, resource)
		for _, literal := range find(`"([A-Z]+(?:_[A-Z]+)+)"`, code) {
			givenByLambda := strings.HasPrefix(literal[1], "AWS_") && !strings.Contains(local, literal[0])
			if declared[literal[1]] == nil && !givenByLambda {
				t.Errorf("%s does not declare %s, which its code reads", name, literal[1])
			}
		}
		for variable, value := range declared {
			if !strings.Contains(code, `"`+variable+`"`) && !strings.HasPrefix(variable, "GO") {
				t.Errorf("%s declares %s, which its code does not read", name, variable)
			}
			id, isRef := strings.CutPrefix(fmt.Sprint(value), "!Ref ")
			if strings.Contains(id, "!") || isRef != (template.resources(t, table)[id] != nil) {
				t.Errorf("%s of %s = %v, want a constant or a table's name", variable, name, value)
			}
		}
	}
}

// variables returns the variables that the template declares for a function.
func variables(template, resource tree) tree {
	declared := maps.Clone(template.sub("Globals.Function.Environment.Variables"))
	maps.Copy(declared, resource.sub("Properties.Environment.Variables"))
	return declared
}

// command returns the folder in cmd of a function, as createplant of CreatePlantFunction.
func command(function string) string {
	return strings.ToLower(strings.TrimSuffix(function, "Function"))
}

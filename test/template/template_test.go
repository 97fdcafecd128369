package template

import (
	"fmt"
	"maps"
	"regexp"
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
	template := parse(t, "template.yaml")
	for _, rule := range []struct{ why, kind, path, want string }{
		{"the Makefile builds a function", function, "Metadata.BuildMethod", "makefile"},
		{"each change publishes a version", function, "Properties.AutoPublishAliasAllProperties", "true"},
		{"our log lines stay JSON", function, "Properties.LoggingConfig", `map\[LogFormat:Text LogGroup:!Ref \w+\]`},
		{"SAM's own role could do more", function, "Properties.Role", `!GetAtt \w+\.Arn`},
		{"API Gateway waits at most 30 s", function, "Properties.Timeout", `\d|[12]\d`},
		{
			"one authorizer runs for every request: each has a route key, and no verdict is cached", httpAPI, "Properties.Auth",
			`map\[Authorizers:map\[\w+:map\[AuthorizerPayloadFormatVersion:2\.0 EnableFunctionDefaultPermissions:true ` +
				`EnableSimpleResponses:true FunctionArn:!Sub \$\{\w+\.Arn\}:live ` + // `sam local` cannot read !Ref X.Alias
				`Identity:map\[Context:\[routeKey\] ReauthorizeEvery:0\]\]\] DefaultAuthorizer:\w+\]`,
		},
		{
			"a function's events are routes of the API, with its authorizer", function, "Properties.Events",
			`<nil>|map\[(\w+:map\[Properties:map\[ApiId:!Ref HttpApi Method:\w+ Path:\S+ PayloadFormatVersion:2\.0\] Type:HttpApi\] ?)+\]`,
		},
		{"a flood is bounded", httpAPI, "Properties.DefaultRouteSettings", `map\[ThrottlingBurstLimit:\d+ ThrottlingRateLimit:\d+\]`},
		{"the API needs the authorizer's alias", httpAPI, "DependsOn", `\w+Aliaslive`},
		{
			"Lambda alone takes a role", role, "Properties.AssumeRolePolicyDocument",
			`map\[Statement:\[map\[Action:sts:AssumeRole Effect:Allow Principal:map\[Service:lambda\.amazonaws\.com\]\]\] Version:\S+\]`,
		},
		{
			"a role allows one action on one table, its log and traces", role, "Properties.Policies",
			`\[map\[PolicyDocument:map\[Statement:\[map\[Action:dynamodb:\w+ Effect:Allow Resource:!GetAtt \w+\.Arn\] ` +
				`map\[Action:\[logs:CreateLogStream logs:PutLogEvents\] Effect:Allow Resource:!GetAtt \w+\.Arn\]` +
				`( (\[!If \w+ )?map\[Action:\[xray:PutTraceSegments xray:PutTelemetryRecords\] Effect:Allow Resource:\*\]` +
				`( !Ref AWS::NoValue\])?)?\] Version:\S+\] PolicyName:\w+\]\]`,
		},
		{
			"the access log has nothing that a client chooses", httpAPI, "Properties.AccessLogSettings",
			`map\[DestinationArn:!GetAtt \w+\.Arn Format:\{("\w+":"\$context\.(requestId|requestTimeEpoch|routeKey|status|error\.message|` +
				`authorizer\.error|integration\.(error|integrationStatus|latency)|responseLatency)"(, ?|\}))+\]`,
		},
		{"a table survives its stack", table, "DeletionPolicy", "RetainExceptOnCreate"},
		{"a table survives its replacement", table, "UpdateReplacePolicy", "Retain"},
		{"a table can be restored", table, "Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"},
		{"the stage protects a table", table, "Properties.DeletionProtectionEnabled", `\[!If Guarded true false\]`},
		{"a log does not grow for ever", logGroup, "Properties.RetentionInDays", `[1-9]\d*`},
		{
			"stacks do not share metrics, and DefaultValue forbids Dimensions", filter, "Properties.MetricTransformations",
			`\[map\[(DefaultValue:0 )?MetricName:\w+ MetricNamespace:!Sub \w+/\$\{AWS::StackName\} MetricValue:\S+ Unit:\w+\]\]`,
		},
		{"an alarm notifies", alarm, "Properties.AlarmActions", `.*\[!Ref AlarmTopic\].*`},
		{"the end of an alarm notifies", alarm, "Properties.OKActions", `.*\[!Ref AlarmTopic\].*`},
		{"an alarm is enabled", alarm, "Properties.ActionsEnabled", "<nil>|true"},
		{"no traffic is no alarm", alarm, "Properties.TreatMissingData", "notBreaching"},
		{"an alarm fires above its threshold", alarm, "Properties.ComparisonOperator", "GreaterThan.*Threshold"},
	} {
		for name, resource := range template.resources(t, rule.kind) {
			if got := resource.text(rule.path); !regexp.MustCompile(`^(` + rule.want + `)$`).MatchString(got) {
				t.Errorf("%s: %s of %s = %s, want %s", rule.why, rule.path, name, got, rule.want)
			}
		}
	}
	expiry := regexp.MustCompile(`dynamodbav:"(\w+),unixtime"`).FindStringSubmatch(read(t, "internal/dynamo/tokens.go"))
	if got := template.text("Resources.TokensTable.Properties.TimeToLiveSpecification"); got != "map[AttributeName:"+expiry[1]+" Enabled:true]" {
		t.Errorf("DynamoDB removes tokens by %s, want by %s", got, expiry[1])
	}
	if got := template.text("Conditions.Guarded"); got != "[!Not [!Equals !Ref Stage dev]]" {
		t.Errorf("Guarded = %s, want every stage but dev", got)
	}
	openapi := parse(t, "openapi.yaml")
	routes := regexp.MustCompile(`Method:(\w+) Path:([^ ]+)`).FindAllStringSubmatch(fmt.Sprint(template.resources(t, function)), -1)
	for _, route := range routes {
		if openapi.at("paths."+route[2]+"."+strings.ToLower(route[1])) == nil {
			t.Errorf("openapi.yaml lacks the route %s", route[0])
		}
	}
	if len(routes) < len(openapi.sub("paths")) {
		t.Errorf("the template's routes are %v, want those of openapi.yaml", routes)
	}
	for _, output := range regexp.MustCompile(`OutputKey == "(\w+)"`).FindAllStringSubmatch(read(t, ".ci/smoke-test"), -1) {
		if template.at("Outputs."+output[1]) == nil {
			t.Errorf("the template has no output %s, which .ci/smoke-test reads", output[1])
		}
	}
	for name := range template.sub("Parameters") {
		p := template.sub("Parameters." + name)
		if p["Description"] == nil || p["AllowedValues"] == nil && p["AllowedPattern"] == nil {
			t.Errorf("parameter %s needs a Description, and AllowedValues or an AllowedPattern", name)
		}
	}
}

// TestDoors allows only resources and properties that let nobody in past the authorizer. A function URL, a permission or a
// table's policy could.
func TestDoors(t *testing.T) {
	template := parse(t, "template.yaml")
	doors := map[string]string{ // "" allows every property
		alarm: "", filter: "", "AWS::CloudWatch::Dashboard": "",
		logGroup: "LogGroupName RetentionInDays",
		role:     "AssumeRolePolicyDocument Policies",
		table: "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema PointInTimeRecoverySpecification " +
			"TimeToLiveSpecification",
		httpAPI:   "AccessLogSettings Auth DefaultRouteSettings",
		function:  "AutoPublishAliasAllProperties Description Environment Events LoggingConfig Role Timeout",
		"Globals": "Architectures AutoPublishAlias CodeUri DeploymentPreference Environment Handler MemorySize Runtime Tracing",
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
	if got := preference.text("Type"); !regexp.MustCompile(`^\[!If \w+ (Canary|Linear)\w+ AllAtOnce\]$`).MatchString(got) {
		t.Errorf("deployments are %s, want gradual ones where the stage is guarded", got)
	}
	watched := ""
	names := regexp.MustCompile(`!Ref (\w+)[ \]]`).FindAllStringSubmatch(preference.text("Alarms"), -1)
	for _, name := range names {
		properties := template.resources(t, alarm)[name[1]].text("Properties")
		if properties == "<nil>" || strings.Contains(properties, "AWS/ApiGateway") {
			t.Errorf("a deployment watches %s, want an alarm that is not on the API", name[1])
		}
		watched += properties
	}
	for name := range template.resources(t, function) {
		for _, want := range []string{`!Ref ` + name + `\]\] \S+ MetricName:Errors`, `!Ref ` + name + `\]\] \S+ MetricName:Throttles`, "AWS::StackName"} {
			if !regexp.MustCompile(want).MatchString(watched) || len(names) > 10 {
				t.Errorf("a deployment watches %v, want ten alarms at most, one on %s", names, want)
			}
		}
	}
}

// TestEnvironments checks that `make deploy ENV=...` asks nothing: each stage has an environment of its name that sets
// every parameter. `sam deploy` alone deploys dev.
func TestEnvironments(t *testing.T) {
	template, makefile, environments := parse(t, "template.yaml"), read(t, "Makefile"), map[string]string{}
	block := regexp.MustCompile(`(?m)^\[(\w+)\.deploy\.parameters\]\n((?:\w.*\n)+)`)
	for _, match := range block.FindAllStringSubmatch(read(t, "samconfig.toml"), -1) {
		environments[match[1]] = match[2]
	}
	if environments["default"] != environments["dev"] {
		t.Errorf("samconfig.toml's default = %s, want that of dev, %s", environments["default"], environments["dev"])
	}
	for _, item := range template.list("Parameters.Stage.AllowedValues") {
		stage := item.(string)
		want := []string{
			`stack_name = "plant-store-` + stage + `"`, ` Stage = "` + stage + `"`, `"file://.aws-sam/build/parameters.yaml"`,
			"resolve_s3 = true", "capabilities = ", "confirm_changeset = false", "fail_on_empty_changeset = false",
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
		for _, literal := range regexp.MustCompile(`"([A-Z]+(?:_[A-Z]+)+)"`).FindAllStringSubmatch(code, -1) {
			if declared[literal[1]] == nil && (!strings.HasPrefix(literal[1], "AWS_") || strings.Contains(local, literal[0])) {
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

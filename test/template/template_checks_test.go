package template

import (
	"encoding/json"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
)

// A parameter says what it is for, and takes no value that cannot work.
func checkParameters(p *problems, t template) {
	for _, name := range t.names("Parameters") {
		at := "Parameters." + name + "."
		if t.at(at+"Description") == nil || (t.at(at+"AllowedValues") == nil && t.at(at+"AllowedPattern") == nil) {
			p.add("parameter %s has no description, or neither AllowedValues nor AllowedPattern", name)
		}
	}
}

// commands are the functions and the folder in cmd of each.
var commands = map[string]string{"CreatePlantFunction": "createplant", "AuthorizerFunction": "authorizer"}

func checkFunctions(p *problems, t template, makefile string) {
	functions := t.resources("AWS::Serverless::Function")
	if len(functions) != len(commands) {
		p.add("the functions are %v, want those of %v", functions, commands)
	}
	for _, name := range functions {
		at := "Resources." + name + "."
		if t.text(at+"Properties.AutoPublishAliasAllProperties") != "true" {
			p.add("%s does not publish a version for each changed property: AutoPublishAliasAllProperties is not true", name)
		}
		if t.text(at+"Metadata.BuildMethod") != "makefile" || !regexp.MustCompile(`(?m)^(build-\w+ )*build-`+name+`( build-\w+)*:\n\t`).MatchString(makefile) ||
			!strings.Contains(makefile, "build-"+name+": COMMAND = "+commands[name]+"\n") {
			p.add("%s is not built by a target build-%s of the Makefile from cmd/%s", name, name, commands[name])
		}
		checkVariables(p, t, name)
	}
}

// given are the variables that Lambda sets, and readByGo those that Go itself
// reads. AWS_ENDPOINT_URL is left out on purpose: one endpoint is enough.
var (
	given    = []string{"AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL"}
	readByGo = []string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT"}
)

// A function has each variable that its code reads, and no other; and no
// variable follows a parameter, whose change would publish no new version.
func checkVariables(p *problems, t template, function string) {
	const shared = "Globals.Function.Environment.Variables"
	own := "Resources." + function + ".Properties.Environment.Variables"
	declared := append(t.names(shared), t.names(own)...)
	var needed []string
	for _, file := range []string{path.Join("cmd", commands[function], "main.go"), "cmd/internal/environment/environment.go"} {
		code, err := os.ReadFile(file)
		if err != nil {
			p.add("%s: %v", function, err)
		}
		for _, literal := range regexp.MustCompile(`"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"`).FindAllStringSubmatch(string(code), -1) {
			needed = append(needed, literal[1])
		}
	}
	for _, name := range needed {
		if !slices.Contains(declared, name) && !slices.Contains(given, name) {
			p.add("%s lacks the variable %s, which its code reads", function, name)
		}
	}
	for _, name := range declared {
		if !slices.Contains(needed, name) && !slices.Contains(readByGo, name) {
			p.add("%s has the variable %s, which its code does not read", function, name)
		}
		for _, parameter := range t.names("Parameters") {
			if value := t.text(shared+"."+name) + t.text(own+"."+name); mentions(value, parameter) {
				p.add("%s reads the parameter %s in %s", function, parameter, name)
			}
		}
	}
}

// Each event of a function is a route of the one API, with the API's authorizer.
func checkRoutes(p *problems, t template) {
	if apis := t.resources("AWS::Serverless::HttpApi"); !slices.Equal(apis, []string{"HttpApi"}) {
		p.add("the APIs are %v, want HttpApi alone", apis)
	}
	for _, function := range t.resources("AWS::Serverless::Function") {
		events := "Resources." + function + ".Properties.Events"
		for _, event := range t.names(events) {
			at := events + "." + event + "."
			if t.text(at+"Type") != "HttpApi" || t.text(at+"Properties.ApiId") != "!Ref HttpApi" ||
				t.at(at+"Properties.Auth") != nil || t.text(at+"Properties.PayloadFormatVersion") != "2.0" {
				p.add("%s of %s is not a route of HttpApi with its authorizer and payload format 2.0", event, function)
			}
		}
	}
}

// Every log has a group of its own that does not grow for ever, and the access
// log has nothing that a client sent.
func checkLogs(p *problems, t template) {
	groups := t.resources("AWS::Logs::LogGroup")
	for _, group := range groups {
		if t.at("Resources."+group+".Properties.RetentionInDays") == nil {
			p.add("%s keeps its lines for ever", group)
		}
	}
	for function, want := range map[string]string{"CreatePlantFunction": "CreatePlantLog", "AuthorizerFunction": "AuthorizerLog"} {
		at := "Resources." + function + ".Properties.LoggingConfig."
		if got := t.text(at + "LogGroup"); got != "!Ref "+want || !slices.Contains(groups, want) {
			p.add("%s logs to %s, want !Ref %s", function, got, want)
		}
		if got := t.text(at + "LogFormat"); got != "Text" {
			p.add("%s has LogFormat %s, want Text, which leaves its lines as they are", function, got)
		}
	}
	const access = "Resources.HttpApi.Properties.AccessLogSettings."
	if got := t.text(access + "DestinationArn"); got != "!GetAtt AccessLog.Arn" {
		p.add("the access log goes to %s, want !GetAtt AccessLog.Arn", got)
	}
	var fields map[string]string
	if err := json.Unmarshal([]byte(t.text(access+"Format")), &fields); err != nil || len(fields) < 8 {
		p.add("the access log is no JSON object with its fields: %v %v", fields, err)
	}
	for name, value := range fields {
		if !regexp.MustCompile(`^\$context\.(requestId|requestTimeEpoch|routeKey|status|error\.message|responseLatency|authorizer\.error|integration\.(error|integrationStatus|latency))$`).MatchString(value) {
			p.add("the access log's %s is %s, which is not among what it may tell", name, value)
		}
	}
}

// Deployments roll back on alarms that exist, none of which waits for the
// deployment.
func checkDeployments(p *problems, t template) {
	const preference = "Globals.Function.DeploymentPreference."
	if got := t.text(preference + "Type"); got != "map[!If:[Guarded Canary10Percent5Minutes AllAtOnce]]" {
		p.add("deployments are %s, want a canary where the stage is guarded", got)
	}
	choice := t.list(preference + "Alarms.!If")
	if len(choice) != 3 {
		p.add("alarms of a deployment = %v, want an !If", choice)
		return
	}
	alarms, _ := choice[1].([]any)
	if len(alarms) != 7 { // CodeDeploy takes ten
		p.add("a deployment watches %d alarms, want 7", len(alarms))
	}
	for _, alarm := range alarms {
		text, _ := alarm.(string)
		name := strings.TrimPrefix(text, "!Ref ")
		if !slices.Contains(t.resources("AWS::CloudWatch::Alarm"), name) {
			p.add("a deployment watches %v, which is no alarm", alarm)
		}
		if mentions(t.text("Resources."+name), "HttpApi") {
			p.add("%s waits for HttpApi, which waits for the deployment that watches it", name)
		}
	}
}

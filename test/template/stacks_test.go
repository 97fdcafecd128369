package template

import (
	"fmt"
	"maps"
	"strings"
	"testing"
)

const topic, certificate = "arn:aws:sns:eu-central-1:123456789012:alarms", "arn:aws:acm:eu-central-1:123456789012:certificate/id"

// changes has another value for each parameter, and the functions of which the change must publish a version. "" is a
// change of nothing.
var changes = []struct{ parameter, value, publishes string }{
	{"", "", ""},
	{"AlarmTopic", topic + "-2", ""},
	{"ThrottleRate", "150", ""},
	{"ThrottleBurst", "150", ""},
	{"Memory", "512", "AuthorizerFunction CreatePlantFunction"},
	{"ReservedConcurrency", "50", ""},
	{"RefusalLimit", "8", ""},
	{"LogRetention", "365", ""},
	{"Tracing", "Active", "AuthorizerFunction CreatePlantFunction"},
	{"PermissionsBoundary", "arn:aws:iam::123456789012:policy/boundary", ""},
	{"DomainName", "plants.example.com", ""},
	{"AllowedOrigins", "https://www.example.com,http://127.0.0.1:5173", ""},
	{"TokenIssuer", "https://issuer.example.com", "AuthorizerFunction"},
	{"TokenAudience", "another", "AuthorizerFunction"},
	{"Build", "abc1234 2026-01-31T12:00:00Z", ""}, // for its own sake, a build must not publish
	{"Shift", "at-once", ""},
	{"Architecture", "arm64", ""}, // the code changes with it, which publishes
}

// values returns the value of each parameter: its default, unless pairs of names and values say another.
func values(template tree, pairs ...string) map[string]string {
	values := map[string]string{}
	for name, parameter := range template.sub("Parameters") {
		values[name] = parameter.(tree).text("Default")
	}
	for i := 0; i < len(pairs); i += 2 {
		values[pairs[i]] = pairs[i+1]
	}
	return values
}

// TestStacks checks the stack that CloudFormation gets from SAM for each stage and each change of a parameter.
func TestStacks(t *testing.T) {
	template := parse(t, "template.yaml")
	untested := maps.Clone(template.sub("Parameters"))
	var sets []map[string]string
	for _, stage := range []string{"dev", "staging", "production"} {
		for _, change := range changes {
			set := values(template, "Stage", stage, "AlarmTopic", topic, change.parameter, change.value)
			if set["DomainName"] != "" {
				set["CertificateArn"] = certificate
			}
			if set["TokenIssuer"] != "" {
				set["TokenAudience"] = "plants"
			} else if set["TokenAudience"] != "" {
				set["TokenIssuer"] = "https://issuer.example.com"
			}
			sets = append(sets, set)
			delete(untested, change.parameter)
		}
	}
	delete(untested, "Stage")
	delete(untested, "CertificateArn") // changes with DomainName
	if len(untested) > 0 {
		t.Errorf("the table of changes lacks %v", untested)
	}
	stacks := translate(t, sets)
	for i, stack := range stacks {
		change, first := changes[i%len(changes)], i-i%len(changes)
		name := fmt.Sprintf("%s with %s=%s", sets[i]["Stage"], change.parameter, change.value)
		if refused(stack, sets[i]) {
			t.Errorf("%s: a deployment is refused", name)
		}
		testStack(t, name, stack, sets[i])
		for function, version := range versions(stack) {
			before, want := versions(stacks[first])[function], strings.Contains(change.publishes, function)
			if (version != before) != want {
				t.Errorf("%s: the version of %s is %s, before %s; want another = %t", name, function, version, before, want)
			}
		}
	}
}

// versions returns what identifies the version of each function to CloudFormation.
func versions(stack tree) map[string]string {
	versions := map[string]string{}
	for id, resource := range stack.sub("Resources") {
		if resource := resource.(tree); resource["Type"] == "AWS::Lambda::Version" {
			versions[resource.text("Properties.FunctionName.Ref")] = id + " " + resource.text("Properties")
		}
	}
	return versions
}

// testStack checks what a set of parameters must bring about.
func testStack(t *testing.T, name string, stack tree, parameters map[string]string) {
	t.Helper()
	gradual := parameters["Stage"] != "dev" && parameters["Shift"] == "gradual"
	for id, resource := range stack.sub("Resources") {
		properties, got, want := resource.(tree).sub("Properties"), "", ""
		switch resource.(tree)["Type"] {
		case "AWS::IAM::Role": // SAM's own too
			got, want = properties.text("PermissionsBoundary"), parameters["PermissionsBoundary"]
		case "AWS::CodeDeploy::DeploymentGroup":
			config, alarms := properties.text("DeploymentConfigName"), properties.list("AlarmConfiguration.Alarms")
			got = fmt.Sprint(strings.Contains(config, "AllAtOnce"), len(alarms) == 0)
			want = fmt.Sprint(!gradual, !gradual)
		case "AWS::Lambda::Function":
			got, want = properties.text("ReservedConcurrentExecutions"), parameters["ReservedConcurrency"]
		case "AWS::ApiGatewayV2::ApiMapping":
			got, want = stack.text("Outputs.Url.Value"), "<Fn::Sub:https://"+parameters["DomainName"]+">"
		}
		if strings.TrimPrefix(got, "<nil>") != want {
			t.Errorf("%s: %s has %s, want %s", name, id, got, want)
		}
	}
}

// TestRules checks which parameters a deployment refuses.
func TestRules(t *testing.T) {
	template := parse(t, "template.yaml")
	sets := []map[string]string{
		values(template, "Stage", "staging"),
		values(template, "Stage", "production"),
		values(template, "DomainName", "plants.example.com"),
		values(template, "CertificateArn", certificate),
		values(template, "TokenIssuer", "https://issuer.example.com"),
		values(template, "TokenAudience", "plants"),
	}
	for i, stack := range translate(t, sets) {
		if got, want := refused(stack, sets[i]), i > 0; got != want {
			t.Errorf("a deployment with %v is refused = %t, want %t", sets[i], got, want)
		}
	}
}

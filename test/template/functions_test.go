package template

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/internal/budget"
)

// function is what the rules read of an AWS::Lambda::Function.
type function struct {
	Environment   struct{ Variables map[string]string }
	MemorySize    any
	Timeout       int // seconds
	Role          string
	TracingConfig any
	LoggingConfig struct {
		LogGroup, LogFormat, ApplicationLogLevel, SystemLogLevel string
	}
}

// role is what the rules read of an AWS::IAM::Role.
type role struct {
	AssumeRolePolicyDocument policy
	PermissionsBoundary      any
	ManagedPolicyArns        []string
	Policies                 []struct{ PolicyDocument policy }
}

// policy is a policy of IAM.
type policy struct{ Statement []statement }

type statement struct {
	Effect    string
	Principal object
	Action    []string
	Resource  []string
	Condition object
}

// policy returns the policy of a role, which must be its only one.
func (r role) policy(t *testing.T) policy {
	t.Helper()
	if len(r.Policies) != 1 || len(r.ManagedPolicyArns) > 0 {
		t.Fatalf("the role has %d policies and the managed policies %v, want one policy", len(r.Policies), r.ManagedPolicyArns)
	}
	return r.Policies[0].PolicyDocument
}

// allow returns what a policy says by allowing these actions on these resources, which spaces separate: a
// text for each two, such as "sns:Publish on * if map[]".
func allow(actions, resources string, condition object) (powers []string) {
	for action := range strings.FieldsSeq(actions) {
		for resource := range strings.FieldsSeq(resources) {
			powers = append(powers, fmt.Sprintf("%s on %s if %v", action, resource, condition))
		}
	}
	return powers
}

// powers returns what a policy allows, with resources without the partition, the region and the account.
func (p policy) powers() (powers []string) {
	shorten := strings.NewReplacer("arn:${AWS::Partition}:", "", "${AWS::Region}:${AWS::AccountId}:", "")
	for _, s := range p.Statement {
		resources := shorten.Replace(strings.Join(s.Resource, " "))
		powers = append(powers, allow(strings.Join(s.Action, " "), resources, s.Condition)...)
	}
	return powers
}

// checkPowers compares what a policy allows with what it may allow, and must.
func checkPowers(t *testing.T, name string, got, want []string) {
	t.Helper()
	for _, power := range got {
		if !slices.Contains(want, power) {
			t.Errorf("%s allows %s: if that is safe, allow it in this test", name, power)
		}
	}
	for _, power := range want {
		if !slices.Contains(got, power) {
			t.Errorf("%s does not allow %s", name, power)
		}
	}
}

// boundary returns the permissions boundary of deploy/role.yaml.
func boundary(t *testing.T) policy {
	t.Helper()
	type managedPolicy struct{ PolicyDocument policy }
	return properties[managedPolicy](t, translated(t).Stacks["deploy/role.yaml"], "AWS::IAM::ManagedPolicy")["Boundary"].PolicyDocument
}

// What every function does besides.
const (
	writesLog    = "logs:CreateLogStream logs:PutLogEvents"
	writesTraces = "xray:PutTelemetryRecords xray:PutTraceSegments"
)

// TestRoles checks that a function may do one action, on its own table, besides writing
// its log and traces, and that the permissions boundary of deploy/role.yaml allows that.
func TestRoles(t *testing.T) {
	s := production(t)
	type logGroup struct{ LogGroupName string }
	log := properties[logGroup](t, s, "AWS::Logs::LogGroup")["Log"].LogGroupName
	log = strings.Replace(log, "AWS::", "", 1) // in role.yaml, the stack's name is a parameter
	roles := properties[role](t, s, "AWS::IAM::Role")
	allowed := boundary(t).powers()
	for name, f := range properties[function](t, s, "AWS::Lambda::Function") {
		var table string
		for variable, value := range f.Environment.Variables {
			if strings.HasSuffix(variable, "_TABLE") {
				table = named(value)
			}
		}
		arn := "${" + table + ".Arn}"
		got := roles[named(f.Role)].policy(t).powers()
		own := slices.DeleteFunc(slices.Clone(got), func(power string) bool { return !strings.Contains(power, arn) })
		if len(own) != 1 || !strings.HasPrefix(own[0], "dynamodb:") || strings.Contains(own[0], "*") {
			t.Errorf("%s may do %q, want one action on %s", name, own, table)
			continue
		}
		action, _, _ := strings.Cut(own[0], " ")
		besides := slices.Concat(allow(writesLog, "${Log.Arn}", nil), allow(writesTraces, "*", nil))
		checkPowers(t, name, got, append(besides, allow(action, arn, nil)...))
		needed := allow(action, "dynamodb:table/${StackName}-"+table+"-*", nil)
		for _, power := range append(needed, allow(writesLog, "logs:log-group:"+log+":*", nil)...) {
			if !slices.Contains(allowed, power) {
				t.Errorf("%s needs %s, which the boundary does not allow", name, power)
			}
		}
	}
}

// TestBoundary checks that each role has the boundary of the parameter, and that one service assumes it:
// Lambda, or CodeDeploy with AWS's own policy for that.
func TestBoundary(t *testing.T) {
	boundary := object{"Fn::If": []any{"HasBoundary", "${PermissionsBoundary}", "${AWS::NoValue}"}}
	for name, r := range properties[role](t, production(t), "AWS::IAM::Role") {
		if !reflect.DeepEqual(r.PermissionsBoundary, boundary) {
			t.Errorf("%s has the boundary %v, want the parameter PermissionsBoundary", name, r.PermissionsBoundary)
		}
		service := "lambda.amazonaws.com"
		if name == "CodeDeployRole" {
			service = "codedeploy.amazonaws.com"
			allowed := []string{"arn:${AWS::Partition}:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda"}
			if len(r.Policies) > 0 || !slices.Equal(r.ManagedPolicyArns, allowed) {
				t.Errorf("%s has the policies %v and %v, want %v alone", name, r.Policies, r.ManagedPolicyArns, allowed)
			}
		}
		trust := []statement{{Effect: "Allow", Principal: object{"Service": service}, Action: []string{"sts:AssumeRole"}}}
		if got := r.AssumeRolePolicyDocument.Statement; !reflect.DeepEqual(got, trust) {
			t.Errorf("%s trusts %v, want %s", name, got, service)
		}
	}
}

// TestLog checks that Lambda writes the lines of each function, from INFO on, and its own warnings, to the
// stack's log, whose metric filters read JSON.
func TestLog(t *testing.T) {
	for name, f := range properties[function](t, production(t), "AWS::Lambda::Function") {
		c := f.LoggingConfig
		if c.LogGroup != "${Log}" || c.LogFormat != "JSON" || c.ApplicationLogLevel != "INFO" || c.SystemLogLevel != "WARN" {
			t.Errorf("%s has the logging %+v, want JSON in Log, our lines from INFO on, Lambda's from WARN on", name, c)
		}
	}
}

// TestVersions checks that a change of a parameter alone publishes a version: the version's
// description names the parameters that the function reads, except the name of the build, which
// only the log shows. The version before remains.
func TestVersions(t *testing.T) {
	type version struct{ FunctionName, Description string }
	s := production(t)
	functions := properties[function](t, s, "AWS::Lambda::Function")
	for name, v := range properties[version](t, s, "AWS::Lambda::Version") {
		f := functions[named(v.FunctionName)]
		read := fmt.Sprint(f.Environment.Variables, f.MemorySize, f.TracingConfig)
		for parameter := range s.Parameters {
			reference := "${" + parameter + "}"
			isRead := parameter != "Build" && strings.Contains(read, reference)
			if isNamed := strings.Contains(v.Description, reference); isRead != isNamed {
				t.Errorf("%s reads %s = %t, and the description of %s names it = %t", v.FunctionName, parameter, isRead, name, isNamed)
			}
		}
		if r := s.Resources[name]; r.DeletionPolicy != "Retain" || r.UpdateReplacePolicy != "Retain" {
			t.Errorf("%s has the policies %q and %q, want it to remain", name, r.DeletionPolicy, r.UpdateReplacePolicy)
		}
	}
}

// TestTimeouts checks that Lambda stops a function a second after its budget. TestOutcomes
// and TestAuthorizer, in internal/api, check the budget that a function gives its store.
func TestTimeouts(t *testing.T) {
	for name, f := range properties[function](t, production(t), "AWS::Lambda::Function") {
		want := budget.OperationTimeout
		if name == "AuthorizerFunction" {
			want = budget.AuthorizerTimeout
		}
		if got := time.Duration(f.Timeout) * time.Second; got != want {
			t.Errorf("%s has %v, want %v", name, got, want)
		}
	}
}

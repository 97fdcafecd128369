package template

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

type function struct {
	Role          attribute
	Environment   struct{ Variables map[string]any }
	MemorySize    any
	TracingConfig any
	LoggingConfig struct {
		LogGroup                                       ref
		LogFormat, ApplicationLogLevel, SystemLogLevel string
	}
}

type role struct {
	PermissionsBoundary      any
	AssumeRolePolicyDocument policyDocument
	Policies                 []struct{ PolicyDocument policyDocument }
}

type policyDocument struct {
	Statement []statement
}

type statement struct {
	Effect    string
	Principal struct{ Service string }
	Action    any
	Resource  any
	If        []json.RawMessage `json:"Fn::If"`
}

// TestRoles checks that each function has a role of its own, which allows one action on
// one table, and what the function logs and traces. The permissions boundary of
// tools/deploy-role.yaml allows the same action.
func TestRoles(t *testing.T) {
	roles := properties[role](t, production(t), "AWS::IAM::Role")
	taken := map[string]bool{}
	for name, f := range properties[function](t, production(t), "AWS::Lambda::Function") {
		t.Run(name, func(t *testing.T) {
			roleName := f.Role.GetAtt[0]
			if taken[roleName] {
				t.Errorf("the role %s belongs to another function too", roleName)
			}
			taken[roleName] = true
			r := roles[roleName]
			trust := r.AssumeRolePolicyDocument.Statement
			if len(trust) != 1 || trust[0].Principal.Service != "lambda.amazonaws.com" {
				t.Errorf("%s trusts %+v, want Lambda alone", roleName, trust)
			}
			if r.PermissionsBoundary == nil {
				t.Errorf("%s has no PermissionsBoundary", roleName)
			}
			if len(r.Policies) != 1 || len(r.Policies[0].PolicyDocument.Statement) != 3 {
				t.Fatalf("%s has the policies %+v, want one with three statements", roleName, r.Policies)
			}
			table, log, trace := r.Policies[0].PolicyDocument.Statement[0], r.Policies[0].PolicyDocument.Statement[1], r.Policies[0].PolicyDocument.Statement[2]
			action, _ := table.Action.(string)
			if !strings.HasPrefix(action, "dynamodb:") || strings.Contains(action, "*") || !isTable(production(t), table.Resource) {
				t.Errorf("%s allows %v on %v, want one action on one table", roleName, table.Action, table.Resource)
			}
			if !boundaryAllows(t, action, table.Resource) {
				t.Errorf("the Boundary in tools/deploy-role.yaml does not allow %s what %s does: %s on %v", name, roleName, action, table.Resource)
			}
			if !equal(log.Action, []string{"logs:CreateLogStream", "logs:PutLogEvents"}) || !equal(log.Resource, attribute{[2]string{"Log", "Arn"}}) {
				t.Errorf("%s allows %v on %v, want to write to Log", roleName, log.Action, log.Resource)
			}
			var traces statement
			if err := json.Unmarshal(trace.If[1], &traces); err != nil {
				t.Fatal(err)
			}
			if !equal(traces.Action, []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}) {
				t.Errorf("%s allows %v, want to write traces", roleName, traces.Action)
			}
		})
	}
}

// boundaryAllows reports whether the permissions boundary allows one action on a table of the stack.
func boundaryAllows(t *testing.T, action string, table any) bool {
	t.Helper()
	var boundary struct{ PolicyDocument policyDocument }
	deployResource(t, "Boundary", &boundary)
	for _, s := range boundary.PolicyDocument.Statement {
		resource, _ := s.Resource.(string)
		_, name, _ := strings.Cut(resource, ":table/${StackName}-")
		name = strings.TrimSuffix(name, "-*")
		if s.Effect == "Allow" && s.Action == action && equal(table, attribute{[2]string{name, "Arn"}}) {
			return true
		}
	}
	return false
}

// isTable reports whether value is the ARN of a table of the stack.
func isTable(s stack, value any) bool {
	for name, resource := range s.Resources {
		if resource.Type == "AWS::DynamoDB::Table" && equal(value, attribute{[2]string{name, "Arn"}}) {
			return true
		}
	}
	return false
}

// equal reports whether a decoded value is what want is as JSON.
func equal(value, want any) bool {
	encoded, err := json.Marshal(want)
	if err != nil {
		return false
	}
	var decoded any
	if err := json.Unmarshal(encoded, &decoded); err != nil {
		return false
	}
	return reflect.DeepEqual(value, decoded)
}

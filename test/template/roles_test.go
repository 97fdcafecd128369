package template

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type function struct {
	Environment   struct{ Variables map[string]any }
	MemorySize    any
	Timeout       int // seconds
	Role          attribute
	TracingConfig any
	LoggingConfig loggingConfig
}

type loggingConfig struct {
	LogGroup                       ref
	LogFormat, ApplicationLogLevel string
}

// TestRoles checks that each function has a role of its own. It allows one action on the
// function's table, and what the function logs and traces, to Lambda alone. The
// permissions boundary of deploy/role.yaml allows the action too.
func TestRoles(t *testing.T) {
	s := production(t)
	for name, f := range properties[function](t, s, "AWS::Lambda::Function") {
		t.Run(name, func(t *testing.T) {
			if want := strings.TrimSuffix(name, "Function") + "Role"; f.Role.GetAtt[0] != want {
				t.Errorf("it has the role %v, want %s", f.Role, want)
			}
			checkRole(t, s, f)
		})
	}
}

// checkRole checks that the role of a function allows one action on the function's table,
// which the boundary allows too, and nothing else. It returns the action.
func checkRole(t *testing.T, s stack, f function) (action string) {
	t.Helper()
	_, table := f.table()
	role := properties[json.RawMessage](t, s, "AWS::IAM::Role")[f.Role.GetAtt[0]]
	actions := boundaryActions(t, table)
	for _, allowed := range actions {
		if equal(role, functionRole(allowed, table)) {
			return allowed
		}
	}
	t.Fatalf("%v is %s, want %s", f.Role, role, functionRole(strings.Join(actions, " or "), table))
	return ""
}

// functionRole returns the role of a function that may do one action on a table.
func functionRole(action, table string) json.RawMessage {
	return fmt.Appendf(nil, `{
		"AssumeRolePolicyDocument": {"Version": "2012-10-17", "Statement": [
			{"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}
		]},
		"PermissionsBoundary": {"Fn::If": ["HasBoundary", {"Ref": "PermissionsBoundary"}, {"Ref": "AWS::NoValue"}]},
		"Policies": [{"PolicyName": "function", "PolicyDocument": {"Version": "2012-10-17", "Statement": [
			{"Effect": "Allow", "Action": %q, "Resource": {"Fn::GetAtt": [%q, "Arn"]}},
			{"Effect": "Allow", "Action": ["logs:CreateLogStream", "logs:PutLogEvents"], "Resource": {"Fn::GetAtt": ["Log", "Arn"]}},
			{"Fn::If": [
				"Traced",
				{"Effect": "Allow", "Action": ["xray:PutTraceSegments", "xray:PutTelemetryRecords"], "Resource": "*"},
				{"Ref": "AWS::NoValue"}
			]}
		]}}]
	}`, action, table)
}

// boundaryActions returns the actions on a table that the permissions boundary of
// deploy/role.yaml allows.
func boundaryActions(t *testing.T, table string) (actions []string) {
	t.Helper()
	var boundary struct {
		PolicyDocument struct{ Statement []statement }
	}
	deployResource(t, "Boundary", &boundary)
	resource := "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${StackName}-" + table + "-*"
	for _, s := range boundary.PolicyDocument.Statement {
		if s.Resource == resource {
			actions = append(actions, s.actions()...)
		}
	}
	return actions
}

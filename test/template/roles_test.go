package template

import (
	"slices"
	"strings"
	"testing"
)

// role is what the rules read of an AWS::IAM::Role.
type role struct {
	AssumeRolePolicyDocument policy
	ManagedPolicyArns        []any
	PermissionsBoundary      any
	Policies                 []struct{ PolicyDocument policy }
}

// TestRoles checks that a function may do one action, on its own table, besides writing
// its log and traces. The permissions boundary of deploy/role.yaml allows that action too.
func TestRoles(t *testing.T) {
	everyFunction := []string{
		"logs:CreateLogStream on Log", "logs:PutLogEvents on Log", "xray:PutTraceSegments on *", "xray:PutTelemetryRecords on *",
	}
	s := production(t)
	roles := properties[role](t, s, "AWS::IAM::Role")
	for name, f := range properties[function](t, s, "AWS::Lambda::Function") {
		r := roles[target(f.Role)]
		if len(r.Policies) != 1 || len(r.ManagedPolicyArns) > 0 {
			t.Errorf("the role of %s has %d policies and the managed policies %v, want one", name, len(r.Policies), r.ManagedPolicyArns)
			continue
		}
		var own []string
		for _, grant := range r.Policies[0].PolicyDocument.grants() {
			if !slices.Contains(everyFunction, grant) {
				own = append(own, grant)
			}
		}
		if len(own) != 1 || !slices.Contains(boundaryGrants(t, f.table()), own[0]) {
			t.Errorf("%s may do %v, want one of %v, which the boundary allows", name, own, boundaryGrants(t, f.table()))
		}
	}
}

// TestBoundary checks that no role goes without the permissions boundary of the
// parameter, and that only AWS's services assume them.
func TestBoundary(t *testing.T) {
	boundary := map[string]any{"Fn::If": []any{"HasBoundary", ref{"PermissionsBoundary"}, ref{"AWS::NoValue"}}}
	for name, r := range properties[role](t, production(t), "AWS::IAM::Role") {
		if !equal(r.PermissionsBoundary, boundary) {
			t.Errorf("%s has the boundary %v, want the parameter PermissionsBoundary", name, r.PermissionsBoundary)
		}
		for _, s := range r.AssumeRolePolicyDocument.Statement {
			service, isService := s.Principal["Service"].(string)
			if len(s.Principal) != 1 || !isService || !strings.HasSuffix(service, ".amazonaws.com") {
				t.Errorf("%s can be assumed by %v, want one service", name, s.Principal)
			}
		}
	}
}

// boundaryGrants returns what the permissions boundary of deploy/role.yaml allows on a
// table of the stack, as grants does.
func boundaryGrants(t *testing.T, table string) (grants []string) {
	t.Helper()
	var boundary struct{ PolicyDocument policy }
	deployResource(t, "Boundary", &boundary)
	for _, s := range boundary.PolicyDocument.Statement {
		for _, resource := range s.Resource {
			if resource == "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${StackName}-"+table+"-*" {
				for _, action := range s.Action {
					grants = append(grants, action+" on "+table)
				}
			}
		}
	}
	return grants
}

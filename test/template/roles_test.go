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
// its log and traces.
func TestRoles(t *testing.T) {
	s := production(t)
	roles := properties[role](t, s, "AWS::IAM::Role")
	for name, f := range properties[function](t, s, "AWS::Lambda::Function") {
		r := roles[target(f.Role)]
		if len(r.Policies) != 1 || len(r.ManagedPolicyArns) > 0 {
			t.Errorf("the role of %s has %d policies and the managed policies %v, want one", name, len(r.Policies), r.ManagedPolicyArns)
			continue
		}
		own := ownGrants(r)
		if len(own) != 1 || !strings.HasPrefix(own[0], "dynamodb:") || !strings.HasSuffix(own[0], " on "+f.table()) || strings.Contains(own[0], "*") {
			t.Errorf("%s may do %v, want one action on %s", name, own, f.table())
		}
	}
}

// ownGrants returns what a function's role allows besides what every function may do.
func ownGrants(r role) []string {
	everyFunction := []string{
		"logs:CreateLogStream on Log", "logs:PutLogEvents on Log", "xray:PutTraceSegments on *", "xray:PutTelemetryRecords on *",
	}
	return slices.DeleteFunc(r.Policies[0].PolicyDocument.grants(), func(grant string) bool {
		return slices.Contains(everyFunction, grant)
	})
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

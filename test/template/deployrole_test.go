package template

import (
	"encoding/json"
	"path"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

type statement struct {
	Effect    string
	Action    any // a text or a list
	Resource  any // a text or a list
	Condition any
}

// TestDeployRole checks that the role of deploy/role.yaml allows what
// CloudFormation needs for each resource of the stack, as its registry says, and that an
// action which takes no resource is allowed on all.
func TestDeployRole(t *testing.T) {
	t.Parallel()
	statements := deployStatements(t)
	actions := neededActions(t)
	var withoutResource []string
	script(t, "checkov", "wildcards.py", actions, &withoutResource)
	for _, action := range actions {
		allowed, allowedOnAll := false, false
		for _, s := range statements {
			if s.allows(action) {
				allowed = true
				allowedOnAll = allowedOnAll || s.Resource == "*"
			}
		}
		if !allowed {
			t.Errorf("the role does not allow %s", action)
		}
		if slices.Contains(withoutResource, action) && !allowedOnAll {
			t.Errorf("the role does not allow %s on every resource", action)
		}
	}
}

// TestEscalation checks that whoever deploys cannot get more rights: every role that the
// deploy role creates or changes has the boundary, which it cannot take away. It cannot
// delete or replace the data either.
func TestEscalation(t *testing.T) {
	t.Parallel()
	boundary := map[string]any{"StringEquals": map[string]any{"iam:PermissionsBoundary": "Boundary"}} // !Ref Boundary
	giving := []string{"iam:CreateRole", "iam:PutRolePolicy", "iam:AttachRolePolicy", "iam:PutRolePermissionsBoundary"}
	for _, s := range deployStatements(t) {
		for _, action := range giving {
			if s.allows(action) && !equal(s.Condition, boundary) {
				t.Errorf("the role allows %s under the condition %v, want the boundary", action, s.Condition)
			}
		}
		for _, action := range withheld {
			if s.allows(action) {
				t.Errorf("the role allows %s", action)
			}
		}
	}
}

// neededActions returns the actions that CloudFormation needs for the stack.
func neededActions(t *testing.T) (actions []string) {
	t.Helper()
	var kinds []string
	for _, resource := range production(t).Resources {
		kinds = append(kinds, resource.Type)
	}
	var listed []string
	script(t, "sam", "handlers.py", kinds, &listed)
	for _, action := range listed {
		isUnused := slices.ContainsFunc(unused, func(pattern string) bool { return matches(pattern, action) })
		if !isUnused && !slices.Contains(withheld, action) {
			actions = append(actions, action)
		}
	}
	if len(actions) < 100 {
		t.Errorf("the registry lists the actions %v, want more", actions)
	}
	return actions
}

// unused are actions that the registry lists for features that the stack does not use.
var unused = []string{
	"ec2:*", "elasticfilesystem:*", "firehose:*", "kinesis:*", "kms:*", "s3:*", "s3files:*",
	"dynamodb:*Item", "dynamodb:Query", "dynamodb:*Replica", "dynamodb:*Kinesis*", "dynamodb:ImportTable",
	"dynamodb:*ResourcePolicy", "dynamodb:UpdateContributorInsights", "logs:*IndexPolicy", "logs:DeleteResourcePolicy",
	"lambda:GetCodeSigningConfig", "lambda:GetLayerVersion", "lambda:PassCapacityProvider", "codedeploy:RegisterOnPremisesInstance",
}

// withheld are actions that the role must not have.
var withheld = []string{
	"iam:DeleteRolePermissionsBoundary", "iam:CreatePolicyVersion", "iam:CreateUser",
	"dynamodb:CreateTable", "dynamodb:DeleteTable", "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTimeToLive",
	"dynamodb:DeleteItem", "dynamodb:Scan",
}

// matches reports whether an IAM pattern matches an action.
func matches(pattern, action string) bool {
	ok, err := path.Match(pattern, action)
	return ok && err == nil
}

func (s statement) allows(action string) bool {
	return s.Effect == "Allow" && slices.ContainsFunc(s.actions(), func(pattern string) bool { return matches(pattern, action) })
}

func (s statement) actions() (actions []string) {
	list, isList := s.Action.([]any)
	if !isList {
		list = []any{s.Action}
	}
	for _, action := range list {
		actions = append(actions, action.(string))
	}
	return actions
}

// deployStatements returns the statements of the role.
func deployStatements(t *testing.T) []statement {
	t.Helper()
	var role struct {
		Policies []struct {
			PolicyDocument struct{ Statement []statement }
		}
	}
	deployResource(t, "Role", &role)
	return role.Policies[0].PolicyDocument.Statement
}

// deployResource decodes the properties of a resource of deploy/role.yaml.
func deployResource(t *testing.T, name string, into any) {
	t.Helper()
	var file struct {
		Resources map[string]struct {
			Properties map[string]any `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "deploy/role.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(file.Resources[name].Properties)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, into); err != nil {
		t.Fatal(err)
	}
}

package template

import (
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

const (
	tableARN = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${StackName}-"
	roleARN  = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/"
)

type object = map[string]any

// powers is everything that the deploy role may do with data, rights and SAM's bucket.
var powers = []struct {
	reason    string
	actions   list
	resource  string
	condition object
}{
	{
		reason:    "SAM uploads code and templates, which CloudFormation and Lambda read",
		actions:   list{"s3:AbortMultipartUpload", "s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket", "s3:PutObject"},
		resource:  "arn:${AWS::Partition}:s3:::aws-sam-cli-managed-default-*",
		condition: object{"StringEquals": object{"aws:ResourceAccount": "AWS::AccountId"}},
	},
	{
		reason: "CloudFormation reads the tables, and changes what loses no data",
		actions: list{
			"dynamodb:Describe*", "dynamodb:GetResourcePolicy", "dynamodb:ListTagsOfResource",
			"dynamodb:TagResource", "dynamodb:UntagResource", "dynamodb:UpdateTable",
		},
		resource: tableARN + "*",
	},
	{
		reason:   "deploy/smoke-test issues a token and revokes it",
		actions:  list{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
		resource: tableARN + "TokensTable-*",
	},
	{
		reason: "CloudFormation reads the stack's roles, and changes what gives no rights",
		actions: list{
			"iam:DeleteRole", "iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies",
			"iam:TagRole", "iam:UntagRole", "iam:UpdateRole", "iam:UpdateRoleDescription",
		},
		resource: roleARN + "${StackName}-*",
	},
	{
		reason: "CloudFormation gives the stack's roles their rights, within the boundary",
		actions: list{
			"iam:AttachRolePolicy", "iam:CreateRole", "iam:DeleteRolePolicy", "iam:DetachRolePolicy",
			"iam:PutRolePermissionsBoundary", "iam:PutRolePolicy",
		},
		resource:  roleARN + "${StackName}-*",
		condition: object{"StringEquals": object{"iam:PermissionsBoundary": "Boundary"}},
	},
	{
		reason:    "the functions and CodeDeploy run with these roles",
		actions:   list{"iam:PassRole"},
		resource:  roleARN + "${StackName}-*",
		condition: object{"StringEquals": object{"iam:PassedToService": []any{"codedeploy.amazonaws.com", "lambda.amazonaws.com"}}},
	},
	{
		reason:    "API Gateway creates a role of its own for a domain",
		actions:   list{"iam:CreateServiceLinkedRole"},
		resource:  roleARN + "aws-service-role/ops.apigateway.amazonaws.com/*",
		condition: object{"StringEquals": object{"iam:AWSServiceName": "ops.apigateway.amazonaws.com"}},
	},
}

// harmless are the services of which the role may do more than powers lists, to resources of the stack.
var harmless = []string{"apigateway", "cloudformation", "cloudwatch", "codedeploy", "lambda", "logs", "sns"}

// beyond are the actions of these services that the role may do to more than resources of the stack.
// The ARN of an API has no name, and IAM accepts no resource for those of CloudWatch and its logs. An
// alarm topic may be anywhere.
var beyond = []string{
	"apigateway:*", "sns:Publish", "codedeploy:GetDeploymentConfig", "codedeploy:StopDeployment",
	"cloudformation:CreateChangeSet", "cloudformation:DescribeStacks", "cloudformation:GetTemplateSummary",
	"cloudformation:ValidateTemplate", "cloudwatch:DescribeAlarms",
	"logs:CreateLogDelivery", "logs:DescribeIndexPolicies", "logs:DescribeLogGroups", "logs:DescribeResourcePolicies",
	"logs:GetLogDelivery", "logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:UpdateLogDelivery",
}

// TestPowers checks that the deploy role has the powers that are listed, and no others: whoever deploys
// cannot get more rights, and cannot read, delete or replace the data.
func TestPowers(t *testing.T) {
	statements := deployStatements(t)
	for _, p := range powers {
		want := statement{Effect: "Allow", Action: p.actions, Resource: list{p.resource}}
		if p.condition != nil {
			want.Condition = p.condition
		}
		isWanted := func(s statement) bool { return reflect.DeepEqual(s, want) }
		if !slices.ContainsFunc(statements, isWanted) {
			t.Errorf("no statement is %+v, though %s", want, p.reason)
		}
		statements = slices.DeleteFunc(statements, isWanted)
	}
	for _, s := range statements {
		goesBeyond := slices.ContainsFunc(s.Resource, func(resource string) bool { return !strings.Contains(resource, "${StackName}") })
		for _, action := range s.Action {
			service, _, _ := strings.Cut(action, ":")
			if !slices.Contains(harmless, service) || goesBeyond && !slices.Contains(beyond, action) {
				t.Errorf("the role may do %s to %v, which powers does not list", action, s.Resource)
			}
		}
	}
}

// TestEvidence checks that the deploy role can delete no log, and cannot let it expire.
func TestEvidence(t *testing.T) {
	for _, action := range []string{"logs:DeleteLogGroup", "logs:DeleteLogStream", "logs:PutRetentionPolicy"} {
		for _, s := range deployStatements(t) {
			if s.allows(action) {
				t.Errorf("the role may do %v, and so %s", s.Action, action)
			}
		}
	}
}

// TestAlarmActions checks that the alarms of the deploy role can notify, but neither terminate an
// instance nor start an automation.
func TestAlarmActions(t *testing.T) {
	want := object{"ForAllValues:StringLike": object{"cloudwatch:AlarmActions": "arn:${AWS::Partition}:sns:*"}}
	for _, s := range deployStatements(t) {
		if s.allows("cloudwatch:PutMetricAlarm") && !equal(s.Condition, want) {
			t.Errorf("the role may do %v under the condition %v, want %v", s.Action, s.Condition, want)
		}
	}
}

// unneeded are patterns of what CloudFormation's registry lists and the deploy role does not need: the
// stack does not use these features, and an administrator creates and deletes logs and says how long
// they are kept.
var unneeded = []string{
	"logs:*IndexPolicy", "logs:*KmsKey", "logs:*LogStream*", "logs:CreateLogGroup", "logs:DeleteLogGroup", "logs:DeleteResourcePolicy",
	"logs:DeleteRetentionPolicy", "logs:PutBearerTokenAuthentication", "logs:PutLogEvents", "logs:PutLogGroupDeletionProtection",
	"logs:PutRetentionPolicy", "logs:[DP]*DataProtectionPolicy",
}

// TestNeeds checks that the deploy role may do whatever else CloudFormation's registry lists for the
// logs and alarms of the stack. Of the other services it may do all, or what powers lists.
func TestNeeds(t *testing.T) {
	statements := deployStatements(t)
	needed := 0
	for _, action := range translate(t).Permissions {
		service, _, _ := strings.Cut(action, ":")
		isUnneeded := slices.ContainsFunc(unneeded, func(pattern string) bool { return matches(pattern, action) })
		if service != "logs" && service != "cloudwatch" || isUnneeded {
			continue
		}
		needed++
		if !slices.ContainsFunc(statements, func(s statement) bool { return s.allows(action) }) {
			t.Errorf("the role does not allow %s", action)
		}
	}
	if needed < 20 {
		t.Errorf("the registry lists %d actions, want more", needed)
	}
}

// deployStatements returns the statements of the deploy role's policy, which is its only one.
func deployStatements(t *testing.T) []statement {
	t.Helper()
	var r role
	deployResource(t, "Role", &r)
	if len(r.Policies) != 1 || len(r.ManagedPolicyArns) > 0 {
		t.Fatalf("the deploy role has %d policies and the managed policies %v, want one policy", len(r.Policies), r.ManagedPolicyArns)
	}
	return r.Policies[0].PolicyDocument.Statement
}

// TestBoundaryAllows checks that the permissions boundary allows each function what its role does.
func TestBoundaryAllows(t *testing.T) {
	s := production(t)
	roles := properties[role](t, s, "AWS::IAM::Role")
	for name, f := range properties[function](t, s, "AWS::Lambda::Function") {
		for _, grant := range ownGrants(roles[target(f.Role)]) {
			if allowed := boundaryGrants(t, f.table()); !slices.Contains(allowed, grant) {
				t.Errorf("%s may do %s, and the boundary allows %v", name, grant, allowed)
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

// deployResource decodes the properties of a resource of deploy/role.yaml, in which a reference is
// its name.
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

// allows reports whether a statement allows an action on some resource.
func (s statement) allows(action string) bool {
	return slices.ContainsFunc(s.Action, func(pattern string) bool { return matches(pattern, action) })
}

// matches reports whether an IAM pattern matches an action.
func matches(pattern, action string) bool {
	ok, err := path.Match(pattern, action)
	return ok && err == nil
}

package template

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const github = "token.actions.githubusercontent.com"

// power is what a statement of IAM allows: its words are actions and resources.
type power struct {
	actions   string
	resources string // without what all ARNs of the account and the region have
	condition object
}

// powers returns what a policy allows, but for actions of the services that are left out.
func (p policy) powers(leftOut ...string) (powers []power) {
	shorten := strings.NewReplacer("arn:${AWS::Partition}:", "", "${AWS::Region}:${AWS::AccountId}:", "")
	for _, s := range p.Statement {
		actions := slices.DeleteFunc(slices.Clone(s.Action), func(action string) bool {
			service, _, _ := strings.Cut(action, ":")
			return slices.Contains(leftOut, service)
		})
		if len(actions) > 0 {
			powers = append(powers, power{strings.Join(actions, " "), shorten.Replace(strings.Join(s.Resource, " ")), s.Condition})
		}
	}
	return powers
}

// TestPowers checks that whoever deploys cannot get more rights, and cannot read, delete or replace the
// data or the logs. The role, and the boundary of the roles that it makes, have nothing but these powers: a
// list of what is forbidden would miss an action. TestDeployment shows that CloudFormation of the role
// cannot reach another stack; API Gateway and CodeDeploy reach no data.
func TestPowers(t *testing.T) {
	s := translated(t).Stacks["deploy/role.yaml"]
	if len(s.Resources) != 2 {
		t.Errorf("role.yaml has %d resources, want the role and its boundary", len(s.Resources))
	}
	role := properties[role](t, s, "AWS::IAM::Role")["Role"]
	trust := []statement{{
		Effect:    "Allow",
		Principal: object{"Federated": "arn:${AWS::Partition}:iam::${AWS::AccountId}:oidc-provider/" + github},
		Action:    []string{"sts:AssumeRoleWithWebIdentity"},
		Condition: object{"StringEquals": object{github + ":aud": "sts.amazonaws.com", github + ":sub": "${Subject}"}},
	}}
	if got := role.AssumeRolePolicyDocument.Statement; !reflect.DeepEqual(got, trust) {
		t.Errorf("the role trusts %v, want GitHub's tokens for the environment", got)
	}
	const (
		stackRoles = "iam::${AWS::AccountId}:role/${StackName}-*"
		bucket     = "s3:::aws-sam-cli-managed-default-*"
		alarms     = "cloudwatch:alarm:${StackName}-*"
		log        = "logs:log-group:/aws/lambda/${StackName}"
	)
	equals := func(key string, value any) object { return object{"StringEquals": object{key: value}} }
	checkPowers(t, role.policy(t).powers("apigateway", "cloudformation", "codedeploy"), []power{
		{"s3:AbortMultipartUpload s3:GetObject s3:GetObjectVersion s3:ListBucket s3:PutObject", bucket, equals("aws:ResourceAccount", "${AWS::AccountId}")},
		{"lambda:*", "lambda:function:${StackName}-*", nil},
		{
			"dynamodb:Describe* dynamodb:GetResourcePolicy dynamodb:ListTagsOfResource dynamodb:TagResource dynamodb:UntagResource dynamodb:UpdateTable",
			"dynamodb:table/${StackName}-*", nil,
		},
		{"dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem", "dynamodb:table/${StackName}-TokensTable-*", nil},
		{
			"logs:DeleteMetricFilter logs:DescribeMetricFilters logs:GetDataProtectionPolicy logs:ListTagsForResource " +
				"logs:PutMetricFilter logs:TagResource logs:UntagResource",
			log + " " + log + ":* logs:log-group:/aws/vendedlogs/${StackName}-*", nil,
		},
		{
			"cloudwatch:DeleteAlarms cloudwatch:DeleteDashboards cloudwatch:GetDashboard cloudwatch:ListTagsForResource " +
				"cloudwatch:PutDashboard cloudwatch:TagResource cloudwatch:UntagResource",
			alarms + " cloudwatch::${AWS::AccountId}:dashboard/${StackName}-*", nil,
		},
		{"cloudwatch:PutMetricAlarm", alarms, object{"ForAllValues:StringLike": object{"cloudwatch:AlarmActions": "arn:${AWS::Partition}:sns:*"}}},
		{"sns:Publish", "sns:*", nil},
		{"cloudwatch:DescribeAlarms logs:DescribeIndexPolicies logs:DescribeLogGroups", "*", nil},
		{
			"logs:CreateLogDelivery logs:DescribeResourcePolicies logs:GetLogDelivery logs:ListLogDeliveries logs:PutResourcePolicy logs:UpdateLogDelivery",
			"*", nil,
		},
		{
			"iam:DeleteRole iam:GetRole iam:GetRolePolicy iam:ListAttachedRolePolicies iam:ListRolePolicies " +
				"iam:TagRole iam:UntagRole iam:UpdateRole iam:UpdateRoleDescription",
			stackRoles, nil,
		},
		{
			"iam:AttachRolePolicy iam:CreateRole iam:DeleteRolePolicy iam:DetachRolePolicy iam:PutRolePermissionsBoundary iam:PutRolePolicy",
			stackRoles, equals("iam:PermissionsBoundary", "${Boundary}"),
		},
		{"iam:PassRole", stackRoles, equals("iam:PassedToService", []any{"codedeploy.amazonaws.com", "lambda.amazonaws.com"})},
		{
			"iam:CreateServiceLinkedRole", "iam::${AWS::AccountId}:role/aws-service-role/ops.apigateway.amazonaws.com/*",
			equals("iam:AWSServiceName", "ops.apigateway.amazonaws.com"),
		},
	})
	checkPowers(t, boundary(t).powers(), []power{
		{"dynamodb:PutItem", "dynamodb:table/${StackName}-PlantsTable-*", nil},
		{"dynamodb:GetItem", "dynamodb:table/${StackName}-TokensTable-*", nil},
		{"logs:CreateLogStream logs:PutLogEvents", log + ":*", nil},
		{"lambda:GetAlias lambda:GetProvisionedConcurrencyConfig lambda:UpdateAlias", "lambda:function:${StackName}-*", nil},
		{"cloudwatch:DescribeAlarms xray:PutTelemetryRecords xray:PutTraceSegments", "*", nil},
	})
}

// checkPowers compares the powers of a policy with those that it may have, and needs.
func checkPowers(t *testing.T, got, want []power) {
	t.Helper()
	for _, p := range got {
		if !slices.ContainsFunc(want, func(w power) bool { return reflect.DeepEqual(p, w) }) {
			t.Errorf("a policy allows %q to %q under the condition %v: if that is safe, allow it in this test", p.actions, p.resources, p.condition)
		}
	}
	if len(got) != len(want) {
		t.Errorf("a policy has %d powers, want %d", len(got), len(want))
	}
}

// boundary returns the permissions boundary of deploy/role.yaml.
func boundary(t *testing.T) policy {
	t.Helper()
	type managedPolicy struct{ PolicyDocument policy }
	return properties[managedPolicy](t, translated(t).Stacks["deploy/role.yaml"], "AWS::IAM::ManagedPolicy")["Boundary"].PolicyDocument
}

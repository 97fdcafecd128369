package template

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

const github = "token.actions.githubusercontent.com"

// TestPowers checks that whoever deploys cannot get more rights, and cannot read, delete or replace the
// data or the logs. The role, and the boundary of the roles that it makes, have nothing but these powers: a
// list of what is forbidden would miss an action. TestDeployment shows that CloudFormation of the role
// cannot reach another stack.
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
	checkPowers(t, "the role", guarded(role.policy(t).powers()), slices.Concat(
		allow("s3:GetObject s3:GetObjectVersion s3:ListBucket", bucket, equals("aws:ResourceAccount", "${AWS::AccountId}")),
		allow("s3:AbortMultipartUpload s3:PutObject", bucket+"/github/${StackName}/*", equals("aws:ResourceAccount", "${AWS::AccountId}")),
		allow("lambda:*", "lambda:function:${StackName}-*", nil),
		allow("dynamodb:Describe* dynamodb:GetResourcePolicy dynamodb:ListTagsOfResource dynamodb:TagResource dynamodb:UntagResource "+
			"dynamodb:UpdateTable", "dynamodb:table/${StackName}-*", nil),
		allow("dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem", "dynamodb:table/${StackName}-TokensTable-*", nil),
		allow("logs:DeleteMetricFilter logs:DescribeMetricFilters logs:GetDataProtectionPolicy logs:ListTagsForResource "+
			"logs:PutMetricFilter logs:TagResource logs:UntagResource", log+" "+log+":* logs:log-group:/aws/vendedlogs/${StackName}-*", nil),
		allow("cloudwatch:DeleteAlarms cloudwatch:DeleteDashboards cloudwatch:GetDashboard cloudwatch:ListTagsForResource "+
			"cloudwatch:PutDashboard cloudwatch:TagResource cloudwatch:UntagResource",
			alarms+" cloudwatch::${AWS::AccountId}:dashboard/${StackName}-*", nil),
		allow("cloudwatch:PutMetricAlarm", alarms,
			object{"ForAllValues:StringLike": object{"cloudwatch:AlarmActions": "arn:${AWS::Partition}:sns:*"}}),
		allow("sns:Publish", "sns:*", nil),
		allow("cloudwatch:DescribeAlarms logs:DescribeIndexPolicies logs:DescribeLogGroups", "*", nil),
		allow("logs:CreateLogDelivery logs:DescribeResourcePolicies logs:GetLogDelivery logs:ListLogDeliveries "+
			"logs:PutResourcePolicy logs:UpdateLogDelivery", "*", nil),
		allow("iam:DeleteRole iam:GetRole iam:GetRolePolicy iam:ListAttachedRolePolicies iam:ListRolePolicies "+
			"iam:TagRole iam:UntagRole iam:UpdateRole iam:UpdateRoleDescription", stackRoles, nil),
		allow("iam:AttachRolePolicy iam:CreateRole iam:DeleteRolePolicy iam:DetachRolePolicy iam:PutRolePermissionsBoundary "+
			"iam:PutRolePolicy", stackRoles, equals("iam:PermissionsBoundary", "${Boundary}")),
		allow("iam:PassRole", stackRoles, equals("iam:PassedToService", []any{"codedeploy.amazonaws.com", "lambda.amazonaws.com"})),
		allow("iam:CreateServiceLinkedRole", "iam::${AWS::AccountId}:role/aws-service-role/ops.apigateway.amazonaws.com/*",
			equals("iam:AWSServiceName", "ops.apigateway.amazonaws.com")),
	))
	checkPowers(t, "the boundary", boundary(t).powers(), slices.Concat(
		allow("dynamodb:PutItem", "dynamodb:table/${StackName}-PlantsTable-*", nil),
		allow("dynamodb:GetItem", "dynamodb:table/${StackName}-TokensTable-*", nil),
		allow(writesLog, log+":*", nil),
		allow("lambda:GetAlias lambda:GetProvisionedConcurrencyConfig lambda:UpdateAlias", "lambda:function:${StackName}-*", nil),
		allow("cloudwatch:DescribeAlarms", "*", nil),
		allow(writesTraces, "*", nil),
	))
}

// guarded leaves out powers over services that reach no data.
func guarded(powers []string) []string {
	return slices.DeleteFunc(powers, func(power string) bool {
		service, _, _ := strings.Cut(power, ":")
		return slices.Contains([]string{"apigateway", "cloudformation", "codedeploy"}, service)
	})
}

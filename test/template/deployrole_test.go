package template

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	role = "deploy/role.yaml"

	github = "token.actions.githubusercontent.com"
	trust  = `{"Statement":[{"Action":"sts:AssumeRoleWithWebIdentity",` +
		`"Condition":{"StringEquals":{"` + github + `:aud":"sts.amazonaws.com","` + github + `:sub":"${Subject}"}},"Effect":"Allow",` +
		`"Principal":{"Federated":"arn:${AWS::Partition}:iam::${AWS::AccountId}:oidc-provider/` + github + `"}}],"Version":"2012-10-17"}`
)

// TestPowers checks that whoever deploys cannot get more rights, and cannot read, delete or replace the
// data or the logs. GitHub's tokens for the environment get the role.
// TestRehearsal shows that CloudFormation of the role cannot reach another stack. // part: local-aws
// The role, and the boundary of the roles that it makes, have nothing but these powers: a list of what is
// forbidden would miss an action.
func TestPowers(t *testing.T) {
	n := translated(t).Stacks[role].Nodes
	n.check(t, []value{
		{"Role", "Type", "AWS::IAM::Role"},
		{"Role", "AssumeRolePolicyDocument", trust},
		{"Role", "Policies.0.PolicyName", "deploy"},
		{"Boundary", "Type", "AWS::IAM::ManagedPolicy"},
		{"Parameters/*", "Type", "String"},
		{"Outputs/Role", "Value", "${Role.Arn}"},
		{"Outputs/Boundary", "Value", "${Boundary}"},
	}, func(place, _ string) bool {
		isText := strings.HasSuffix(place, "Description") || strings.HasSuffix(place, ".AllowedPattern") // see TestRolePatterns
		return !isText && !strings.Contains(place, ".PolicyDocument.")
	})
	const (
		stackRoles = "iam::${AWS::AccountId}:role/${StackName}-*"
		bucket     = "s3:::aws-sam-cli-managed-default-*"
		alarms     = "cloudwatch:alarm:${StackName}-*"
		log        = "logs:log-group:/aws/lambda/${StackName}"
	)
	equals := func(key string, value any) object { return object{"StringEquals": object{key: value}} }
	n.checkPowers(t, "Role.Policies.0.PolicyDocument.Statement", []string{
		allow("cloudformation:CancelUpdateStack cloudformation:DeleteChangeSet cloudformation:DescribeChangeSet "+
			"cloudformation:DescribeStackEvents cloudformation:DescribeStackResource cloudformation:DescribeStackResources "+
			"cloudformation:DescribeStacks cloudformation:ExecuteChangeSet cloudformation:GetTemplate "+
			"cloudformation:ListStackResources cloudformation:TagResource cloudformation:UntagResource",
			"cloudformation:stack/${StackName}/*", nil),
		allow("cloudformation:CreateChangeSet", "cloudformation:stack/${StackName}/*",
			object{"Null": object{"cloudformation:ImportResourceTypes": true}}),
		allow("cloudformation:CreateChangeSet", "cloudformation:${AWS::Region}:aws:transform/Serverless-2016-10-31", nil),
		allow("cloudformation:DescribeStacks", "cloudformation:stack/aws-sam-cli-managed-default/*", nil),
		allow("s3:GetObject s3:GetObjectVersion s3:ListBucket", bucket, equals("aws:ResourceAccount", "${AWS::AccountId}")),
		allow("s3:AbortMultipartUpload s3:PutObject", bucket+"/github/${StackName}/*", equals("aws:ResourceAccount", "${AWS::AccountId}")),
		`{"Action":"lambda:InvokeFunction","Effect":"Deny","Resource":"*"}`,
		allow("lambda:*", "lambda:function:${StackName}-*", nil),
		allow("codedeploy:*", "codedeploy:application:${StackName}-* codedeploy:deploymentgroup:${StackName}-*", nil),
		allow("codedeploy:GetDeploymentConfig", "codedeploy:deploymentconfig:*", nil),
		allow("apigateway:*", "apigateway:${AWS::Region}::/*", nil),
		allow("dynamodb:Describe* dynamodb:GetResourcePolicy dynamodb:ListTagsOfResource dynamodb:UpdateTable", "dynamodb:table/${StackName}-*", nil),
		allow("dynamodb:GetItem dynamodb:PutItem dynamodb:UpdateItem", "dynamodb:table/${StackName}-TokensTable-*", nil),
		allow("logs:DeleteMetricFilter logs:DescribeMetricFilters logs:GetDataProtectionPolicy logs:ListTagsForResource "+
			"logs:PutMetricFilter logs:TagResource logs:UntagResource", log+" "+log+":* logs:log-group:/aws/vendedlogs/${StackName}-*", nil),
		allow("cloudwatch:DeleteAlarms cloudwatch:DeleteDashboards cloudwatch:GetDashboard cloudwatch:ListTagsForResource "+
			"cloudwatch:PutDashboard cloudwatch:TagResource cloudwatch:UntagResource",
			alarms+" cloudwatch::${AWS::AccountId}:dashboard/${StackName}-*", nil),
		allow("cloudwatch:PutMetricAlarm", alarms,
			object{"ForAllValues:StringLike": object{"cloudwatch:AlarmActions": "sns:*"}}),
		allow("sns:Publish", "sns:*", nil),
		allow("cloudformation:GetTemplateSummary cloudformation:ValidateTemplate cloudwatch:DescribeAlarms codedeploy:StopDeployment "+
			"logs:DescribeIndexPolicies logs:DescribeLogGroups", "*", nil),
		allow("logs:CreateLogDelivery logs:DescribeResourcePolicies logs:GetLogDelivery logs:ListLogDeliveries "+
			"logs:PutResourcePolicy logs:UpdateLogDelivery", "*", nil),
		allow("iam:DeleteRole iam:GetRole iam:GetRolePolicy iam:ListAttachedRolePolicies iam:ListRolePolicies "+
			"iam:TagRole iam:UntagRole iam:UpdateRole iam:UpdateRoleDescription", stackRoles, nil),
		allow("iam:AttachRolePolicy iam:CreateRole iam:DeleteRolePolicy iam:DetachRolePolicy iam:PutRolePermissionsBoundary "+
			"iam:PutRolePolicy", stackRoles, equals("iam:PermissionsBoundary", "${Boundary}")),
		allow("iam:PassRole", stackRoles, equals("iam:PassedToService", []string{"codedeploy.amazonaws.com", "lambda.amazonaws.com"})),
		allow("iam:CreateServiceLinkedRole", "iam::${AWS::AccountId}:role/aws-service-role/ops.apigateway.amazonaws.com/*",
			equals("iam:AWSServiceName", "ops.apigateway.amazonaws.com")),
	})
	n.checkPowers(t, "Boundary.PolicyDocument.Statement", []string{
		allow("dynamodb:PutItem", "dynamodb:table/${StackName}-PlantsTable-*", nil),
		allow("dynamodb:GetItem", "dynamodb:table/${StackName}-TokensTable-*", nil),
		allow("logs:CreateLogStream logs:PutLogEvents", log+":*", nil),
		allow("lambda:GetAlias lambda:GetProvisionedConcurrencyConfig lambda:UpdateAlias", "lambda:function:${StackName}-*", nil),
		allow("cloudwatch:DescribeAlarms", "*", nil),
	})
}

// TestRolePatterns checks who may get the role, and which stack it deploys.
func TestRolePatterns(t *testing.T) {
	for _, row := range []struct {
		name             string
		parameter, value string
		want             bool
	}{
		{"GitHub's jobs of an environment deploy", "Subject", "repo:owner@1/repository@2:environment:staging", true},
		{"its other jobs do not", "Subject", "repo:owner/repository:pull_request", false},
		{"the role deploys a stack", "StackName", "plant-store-staging", true},
		{"it deploys no other", "StackName", "*", false},
	} {
		pattern := regexp.MustCompile(translated(t).Stacks[role].Nodes["Parameters/"+row.parameter+".AllowedPattern"])
		if got := pattern.MatchString(row.value); got != row.want {
			t.Errorf("%s: %s may be %q = %t, want %t", row.name, row.parameter, row.value, got, row.want)
		}
	}
}

// checkPowers compares the statements of a policy with those that it may have, and must, without the partition,
// the region and the account of a resource.
func (n nodes) checkPowers(t *testing.T, place string, want []string) {
	t.Helper()
	shorten := strings.NewReplacer("arn:${AWS::Partition}:", "", "${AWS::Region}:${AWS::AccountId}:", "")
	var got []json.RawMessage
	if err := json.Unmarshal([]byte(shorten.Replace(n[place])), &got); err != nil {
		t.Fatal(err)
	}
	for _, statement := range got {
		i := slices.Index(want, string(statement))
		if i < 0 {
			t.Errorf("%s has %s: if that is safe, allow it in this test", place, statement)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	if len(want) > 0 {
		t.Errorf("%s does not have %s", place, want)
	}
}

// TestStackPolicy checks that no deployment may take a table out of the stack, or replace it.
func TestStackPolicy(t *testing.T) {
	content, err := os.ReadFile("deploy/stack-policy.json")
	if err != nil {
		t.Fatal(err)
	}
	var policy struct {
		Statement []struct {
			Effect           string
			Action, Resource any
		}
	}
	if err := json.Unmarshal(content, &policy); err != nil {
		t.Fatal(err)
	}
	denial := policy.Statement[1]
	for name := range properties[object](t, production(t), "AWS::DynamoDB::Table") {
		actions, resources := fmt.Sprint(denial.Action), fmt.Sprint(denial.Resource)
		if denial.Effect != "Deny" || actions != "[Update:Delete Update:Replace]" || !strings.Contains(resources, "LogicalResourceId/"+name) {
			t.Errorf("the policy has %v, want it to keep %s", denial, name)
		}
	}
}

package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const roleFile = "deploy/role.yaml"

// policy is a policy of IAM.
type policy struct {
	Version   string
	Statement []any
}

// TestPowers checks that whoever deploys cannot get more rights, and cannot read, delete or replace the
// data or the logs. GitHub's tokens for the environment get the role.
// TestRehearsal shows that CloudFormation of the role cannot reach another stack.
// The role, and the boundary of the roles that it makes, have nothing but these powers: a list of what is
// forbidden would miss an action.
func TestPowers(t *testing.T) {
	var got struct {
		Boundary struct {
			Type       string
			Properties struct{ PolicyDocument policy }
		}
		Role struct {
			Type       string
			Properties struct {
				AssumeRolePolicyDocument policy
				Policies                 []struct {
					PolicyName     string
					PolicyDocument policy
				}
			}
		}
	}
	content, err := json.Marshal(translated(t).Stacks[roleFile].Resources)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(content))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatalf("%s has more than a role with its policies, and a boundary: %v", roleFile, err)
	}
	if policies := got.Role.Properties.Policies; len(policies) != 1 {
		t.Fatalf("the role has %d policies, want 1", len(policies))
	}
	const github = "token.actions.githubusercontent.com"
	got.Role.Properties.AssumeRolePolicyDocument.check(t, []string{`{"Action":"sts:AssumeRoleWithWebIdentity",` +
		`"Condition":{"StringEquals":{"` + github + `:aud":"sts.amazonaws.com","` + github + `:sub":"${Subject}"}},"Effect":"Allow",` +
		`"Principal":{"Federated":"iam::${AWS::AccountId}:oidc-provider/` + github + `"}}`})
	const (
		stackRoles = "iam::${AWS::AccountId}:role/${StackName}-*"
		bucket     = "s3:::aws-sam-cli-managed-default-*"
		alarms     = "cloudwatch:alarm:${StackName}-*"
		log        = "logs:log-group:/aws/lambda/${StackName}"
	)
	equals := func(key string, value any) object { return object{"StringEquals": object{key: value}} }
	got.Role.Properties.Policies[0].PolicyDocument.check(t, []string{
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
	got.Boundary.Properties.PolicyDocument.check(t, []string{
		allow("dynamodb:PutItem", "dynamodb:table/${StackName}-PlantsTable-*", nil),
		allow("dynamodb:GetItem", "dynamodb:table/${StackName}-TokensTable-*", nil),
		allow("logs:CreateLogStream logs:PutLogEvents", log+":*", nil),
		allow("lambda:GetAlias lambda:GetProvisionedConcurrencyConfig lambda:UpdateAlias", "lambda:function:${StackName}-*", nil),
		allow("cloudwatch:DescribeAlarms", "*", nil),
	})
}

// TestRolePatterns checks who may get the role, and which stack it deploys.
func TestRolePatterns(t *testing.T) {
	tests := []struct {
		name             string
		parameter, value string
		want             bool
	}{
		{name: "GitHub's jobs of an environment deploy", parameter: "Subject", value: "repo:owner@1/repository@2:environment:staging", want: true},
		{name: "GitHub's other jobs do not", parameter: "Subject", value: "repo:owner/repository:pull_request", want: false},
		{name: "the role deploys a stack", parameter: "StackName", value: "plant-store-staging", want: true},
		{name: "the role deploys no other stack", parameter: "StackName", value: "*", want: false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			pattern := regexp.MustCompile(translated(t).Stacks[roleFile].Parameters[test.parameter].AllowedPattern)
			if got := pattern.MatchString(test.value); got != test.want {
				t.Errorf("%s may be %q = %t, want %t", test.parameter, test.value, got, test.want)
			}
		})
	}
}

// check compares the statements of a policy with those that it may have, and must, without the partition,
// the region and the account of a resource.
func (p policy) check(t *testing.T, want []string) {
	t.Helper()
	shorten := strings.NewReplacer("arn:${AWS::Partition}:", "", "${AWS::Region}:${AWS::AccountId}:", "")
	for _, statement := range p.Statement {
		text, err := json.Marshal(statement)
		if err != nil {
			t.Fatal(err)
		}
		got := shorten.Replace(string(text))
		i := slices.Index(want, got)
		if i < 0 {
			t.Errorf("the policy has %s: if that is safe, allow it in this test", got)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	if len(want) > 0 {
		t.Errorf("the policy does not have %s", want)
	}
}

// allow is a statement of IAM, in JSON. Spaces separate its actions, and its resources.
func allow(actions, resources string, condition object) string {
	statement := object{"Effect": "Allow", "Action": oneOrMore(actions), "Resource": oneOrMore(resources)}
	if condition != nil {
		statement["Condition"] = condition
	}
	text, _ := json.Marshal(statement) // which cannot fail
	return string(text)
}

func oneOrMore(words string) any {
	if strings.Contains(words, " ") {
		return strings.Fields(words)
	}
	return words
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
	for name := range resources[object](t, production(t), "AWS::DynamoDB::Table") {
		actions, resources := fmt.Sprint(denial.Action), fmt.Sprint(denial.Resource)
		if denial.Effect != "Deny" || actions != "[Update:Delete Update:Replace]" || !strings.Contains(resources, "LogicalResourceId/"+name) {
			t.Errorf("the policy has %v, want it to keep %s", denial, name)
		}
	}
}

package template

import (
	"path"
	"reflect"
	"slices"
	"testing"
)

const (
	tableARN = "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${StackName}-"
	logARN   = "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:"
	roleARN  = "arn:${AWS::Partition}:iam::${AWS::AccountId}:role/${StackName}-*"
)

// TestPowers checks that whoever deploys cannot get more rights, and cannot read, delete or replace the
// data or the logs. TestDeployment shows that the role cannot reach another stack, and checkov that it may
// change little whose ARN is not named. What a row names with a resource, the role may do.
func TestPowers(t *testing.T) {
	policy := properties[role](t, translated(t).Stacks["deploy/role.yaml"], "AWS::IAM::Role")["Role"].policy(t)
	for _, test := range []struct {
		name      string
		actions   []string
		resource  string // the only one to which the role may do them; without it, to none; * is any
		condition object // under which the role may
	}{
		{
			name: "tables, backups, items, logs and the objects of SAM's bucket remain",
			actions: []string{
				"dynamodb:BatchWriteItem", "dynamodb:CreateTable", "dynamodb:DeleteBackup", "dynamodb:DeleteItem", "dynamodb:DeleteTable",
				"dynamodb:PutResourcePolicy", "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTimeToLive",
				"logs:DeleteLogGroup", "logs:DeleteLogStream", "logs:PutRetentionPolicy",
				"s3:DeleteObject", "s3:DeleteObjectVersion", "s3:PutBucketPolicy",
			},
		},
		{
			name: "plants and logs stay unread",
			actions: []string{
				"dynamodb:ExportTableToPointInTime", "dynamodb:Query", "dynamodb:Scan", "logs:FilterLogEvents", "logs:GetLogEvents", "logs:StartQuery",
			},
		},
		{
			name: "there is no way around the boundary, or into the alarm topic",
			actions: []string{
				"iam:CreateAccessKey", "iam:CreatePolicyVersion", "iam:CreateUser", "iam:DeleteRolePermissionsBoundary",
				"iam:UpdateAssumeRolePolicy", "sns:AddPermission", "sts:AssumeRole",
			},
		},
		{
			name:     "the functions of other stacks stay as they are",
			actions:  []string{"lambda:AddPermission", "lambda:UpdateFunctionCode", "lambda:UpdateFunctionConfiguration"},
			resource: "arn:${AWS::Partition}:lambda:${AWS::Region}:${AWS::AccountId}:function:${StackName}-*",
		},
		{
			name:     "deploy/smoke-test issues a token and revokes it",
			actions:  []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"},
			resource: tableARN + "TokensTable-*",
		},
		{
			name: "the stack's roles get their rights within the boundary",
			actions: []string{
				"iam:AttachRolePolicy", "iam:CreateRole", "iam:DeleteRolePolicy", "iam:DetachRolePolicy",
				"iam:PutRolePermissionsBoundary", "iam:PutRolePolicy",
			},
			resource:  roleARN,
			condition: object{"StringEquals": object{"iam:PermissionsBoundary": "${Boundary}"}},
		},
		{
			name:      "the functions and CodeDeploy run with the stack's roles",
			actions:   []string{"iam:PassRole"},
			resource:  roleARN,
			condition: object{"StringEquals": object{"iam:PassedToService": []any{"codedeploy.amazonaws.com", "lambda.amazonaws.com"}}},
		},
		{
			name:      "SAM uploads to its bucket in this account",
			actions:   []string{"s3:GetObject", "s3:PutObject"},
			resource:  "arn:${AWS::Partition}:s3:::aws-sam-cli-managed-default-*",
			condition: object{"StringEquals": object{"aws:ResourceAccount": "${AWS::AccountId}"}},
		},
		{
			name:      "alarms notify, and do nothing else",
			actions:   []string{"cloudwatch:PutMetricAlarm"},
			resource:  "arn:${AWS::Partition}:cloudwatch:${AWS::Region}:${AWS::AccountId}:alarm:${StackName}-*",
			condition: object{"ForAllValues:StringLike": object{"cloudwatch:AlarmActions": "arn:${AWS::Partition}:sns:*"}},
		},
		{
			name:     "an update changes metric filters and the dashboard",
			actions:  []string{"cloudwatch:PutDashboard", "logs:PutMetricFilter"},
			resource: "*",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, action := range test.actions {
				isAllowed := false
				for _, s := range policy.Statement {
					if !s.allows(action) {
						continue
					}
					isAllowed = true
					isResource := test.resource == "*" || slices.Equal(s.Resource, []string{test.resource})
					if !isResource || !reflect.DeepEqual(s.Condition, test.condition) {
						t.Errorf("the role may do %s to %v under the condition %v", action, s.Resource, s.Condition)
					}
				}
				if test.resource != "" && !isAllowed {
					t.Errorf("the role may not do %s", action)
				}
			}
		})
	}
}

// allows reports whether a statement allows an action on some resource.
func (s statement) allows(action string) bool {
	return slices.ContainsFunc(s.Action, func(pattern string) bool {
		ok, err := path.Match(pattern, action)
		return ok && err == nil
	})
}

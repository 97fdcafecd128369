package template

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// guard is what no change of a stack may take away.
type guard struct {
	why string
	of  string   // a type, or the name of a resource
	has []string // one of these, in YAML: null is nothing, * each member, and /.../ a regular expression
}

// guards are those of the service, also against a change that updates the golden file. Each is about all resources of a
// type, and so about a new function or table too.
var guards = []guard{
	{
		why: "Whoever takes over a function can do one action on one table and write the log, and nobody else gets these rights.",
		of:  "AWS::IAM::Role",
		has: []string{
			`{Properties: {
				AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Action: sts:AssumeRole, Principal: {Service: lambda.amazonaws.com}}]},
				ManagedPolicyArns: null,
				Policies: [{PolicyDocument: {Statement: [
					{Effect: Allow, Action: '/dynamodb:\w+/', Resource: '/\$\{\w+Table\.Arn\}/'},
					{Effect: Allow, Action: [logs:CreateLogStream, logs:PutLogEvents], Resource: '${Log.Arn}'}]}}]}}`,
			`{Properties: {
				AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Action: sts:AssumeRole, Principal: {Service: codedeploy.amazonaws.com}}]},
				ManagedPolicyArns: ['arn:${AWS::Partition}:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda'],
				Policies: null}}`,
		},
	},
	{
		why: "An administrator can limit every role by a permissions boundary.",
		of:  "AWS::IAM::Role",
		has: []string{`{Properties: {PermissionsBoundary: {Fn::If: [HasBoundary, '${PermissionsBoundary}', '${AWS::NoValue}']}}}`},
	},
	{
		why: "The authorizer runs for every request, because each route names it, and each request has a route key.",
		of:  "AWS::ApiGatewayV2::Api",
		has: []string{`{Properties: {Body: {
			paths: {'*': {'*': {security: [{TokenAuthorizer: []}]}}},
			components: {securitySchemes: {TokenAuthorizer: {x-amazon-apigateway-authorizer: {identitySource: [$context.routeKey]}}}}}}}`},
	},
	{
		why: "API Gateway does not cache the authorizer's answer, so a revoked token is refused at once.",
		of:  "AWS::ApiGatewayV2::Api",
		has: []string{`{Properties: {Body: {
			components: {securitySchemes: {TokenAuthorizer: {x-amazon-apigateway-authorizer: {authorizerResultTtlInSeconds: 0}}}}}}}`},
	},
	{
		why: "Only the API calls a function, because other calls would not pass the authorizer.",
		of:  "AWS::Lambda::Permission",
		has: []string{`{Properties: {Principal: apigateway.amazonaws.com, SourceArn: '/.*:\$\{HttpApi\}/.*/'}}`},
	},
	{
		why: "No resource is another way to a function or to the data, as a function URL is.",
		of:  "*",
		has: []string{
			`{Type: /AWS::(CloudWatch|CodeDeploy|IAM|Logs)::.*/}`,
			`{Type: /AWS::ApiGatewayV2::(Api|ApiMapping|DomainName|Stage)/}`,
			`{Type: /AWS::Lambda::(Alias|Function|Permission|Version)/}`,
			`{Type: AWS::DynamoDB::Table, Properties: {ResourcePolicy: null, StreamSpecification: null}}`,
		},
	},
	{
		why: "The data stay when the stack is deleted, or a table is replaced.",
		of:  "AWS::DynamoDB::Table",
		has: []string{`{DeletionPolicy: RetainExceptOnCreate, UpdateReplacePolicy: Retain}`},
	},
	{
		why: "Outside dev, nobody deletes a table by mistake.",
		of:  "AWS::DynamoDB::Table",
		has: []string{`{Properties: {DeletionProtectionEnabled: {Fn::If: [Guarded, true, false]}}}`},
	},
	{
		why: "The data can be brought back as of any second of the last 35 days.",
		of:  "AWS::DynamoDB::Table",
		has: []string{`{Properties: {PointInTimeRecoverySpecification: {PointInTimeRecoveryEnabled: true}}}`},
	},
	{
		why: "DynamoDB removes tokens that have expired.",
		of:  "TokensTable",
		has: []string{`{Properties: {TimeToLiveSpecification: {AttributeName: expires_at, Enabled: true}}}`},
	},
	{
		why: "The version before stays, because a roll back needs it.",
		of:  "AWS::Lambda::Version",
		has: []string{`{DeletionPolicy: Retain, UpdateReplacePolicy: Retain}`},
	},
	{
		why: "These alarms roll a deployment back. The others show no bad version, or anybody can fire them.",
		of:  "AWS::CodeDeploy::DeploymentGroup",
		has: []string{`{Properties: {
			AlarmConfiguration: {Enabled: true, Alarms: [{Name: '${ErrorsAlarm}'}, {Name: '${DegradedAlarm}'}, {Name: '${RefusalsAlarm}'}]},
			AutoRollbackConfiguration: {Enabled: true, Events: [DEPLOYMENT_FAILURE, DEPLOYMENT_STOP_ON_ALARM, DEPLOYMENT_STOP_ON_REQUEST]}}}`},
	},
	{
		why: "Somebody is told when an alarm fires, and when it ends.",
		of:  "AWS::CloudWatch::Alarm",
		has: []string{`{Properties: {
			AlarmActions: {Fn::If: [HasAlarmTopic, ['${AlarmTopic}'], '${AWS::NoValue}']},
			OKActions: {Fn::If: [HasAlarmTopic, ['${AlarmTopic}'], '${AWS::NoValue}']}}}`},
	},
	{
		why: "The alarms' metrics read JSON, from one log.",
		of:  "AWS::Lambda::Function",
		has: []string{`{Properties: {LoggingConfig: {LogFormat: JSON, LogGroup: '${Log}'}}}`},
	},
}

// accountGuards are those of deploy/account.yaml.
var accountGuards = []guard{
	{
		why: "Only AWS's services publish to the topic.",
		of:  "AWS::SNS::TopicPolicy",
		has: []string{`{Properties: {PolicyDocument: {Statement: [
			{Effect: Allow, Principal: {Service: [budgets.amazonaws.com, cloudwatch.amazonaws.com]}, Action: sns:Publish,
				Condition: {StringEquals: {aws:SourceAccount: '${AWS::AccountId}'}}},
			{Effect: Allow, Principal: {Service: events.amazonaws.com}, Action: sns:Publish}]}}}`},
	},
	{
		why: "Only AWS Backup has the rights for backups, and no others.",
		of:  "AWS::IAM::Role",
		has: []string{`{Properties: {
			AssumeRolePolicyDocument: {Statement: [{Effect: Allow, Action: sts:AssumeRole, Principal: {Service: backup.amazonaws.com}}]},
			ManagedPolicyArns: ['arn:${AWS::Partition}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup'],
			Policies: null}}`},
	},
	{
		why: "Backups have the key that a copy into another account needs.",
		of:  "AWS::Backup::BackupVault",
		has: []string{`{Properties: {EncryptionKeyArn: {Fn::If: [HasKey, '${VaultKey}', '${AWS::NoValue}']}}}`},
	},
}

func TestGuards(t *testing.T) { checkGuards(t, guards, production(t)) }

func TestAccountGuards(t *testing.T) {
	checkGuards(t, accountGuards, translated(t).Stacks["deploy/account.yaml"])
}

func checkGuards(t *testing.T, guards []guard, s stack) {
	t.Helper()
	resources := map[string]map[string]any{}
	for name, content := range s.Resources {
		resources[name] = decodeYAML(t, string(content)) // JSON is YAML
	}
	for _, guard := range guards {
		t.Run(guard.why, func(t *testing.T) {
			guarded := 0
			for name, resource := range resources {
				if guard.of != "*" && guard.of != resource["Type"] && guard.of != name {
					continue
				}
				guarded++
				if !slices.ContainsFunc(guard.has, func(want string) bool { return contains(resource, decodeYAML(t, want)) }) {
					t.Errorf("%s is %s, want %s", name, inJSON(resource), strings.Join(guard.has, " or "))
				}
			}
			if guarded == 0 {
				t.Errorf("there is no %s", guard.of)
			}
		})
	}
}

func decodeYAML(t *testing.T, text string) map[string]any {
	t.Helper()
	var decoded map[string]any
	if err := yaml.Unmarshal([]byte(text), &decoded); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return decoded
}

// contains reports whether got has what want has, and perhaps more members.
func contains(got, want any) bool {
	switch want := want.(type) {
	case map[string]any:
		members, isMap := got.(map[string]any)
		for name, member := range want {
			if name != "*" && !contains(members[name], member) {
				return false
			}
			for each := range members {
				if name == "*" && !contains(members[each], member) {
					return false
				}
			}
		}
		return isMap
	case []any:
		items, isList := got.([]any)
		return isList && slices.EqualFunc(items, want, contains)
	case string:
		text, isText := got.(string)
		if len(want) > 1 && strings.HasPrefix(want, "/") && strings.HasSuffix(want, "/") {
			return isText && regexp.MustCompile("^("+strings.Trim(want, "/")+")$").MatchString(text)
		}
		return isText && text == want
	default:
		return got == want
	}
}

package template

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// guard is a value that a resource must have, also after a change that updates the golden file.
type guard struct {
	why   string
	of    string // a type, whose resources all have the value, or the name of a resource
	place string // such as Properties.Role
	want  string // the whole value, in YAML
}

var guards = []guard{
	{
		why: "The authorizer runs for every request, because each has a route key. API Gateway does not cache its answer, so a revoked token is refused at once.",
		of:  "AWS::ApiGatewayV2::Api", place: "Properties.Body.components.securitySchemes.TokenAuthorizer",
		want: `{in: header, name: Unused, type: apiKey, x-amazon-apigateway-authorizer: {
			authorizerPayloadFormatVersion: '2.0', authorizerResultTtlInSeconds: 0,
			authorizerUri: 'arn:aws:apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/${AuthorizerFunction.Arn}:live/invocations',
			enableSimpleResponses: true, identitySource: [$context.routeKey], type: request}}`,
	},
	{
		why: "A function runs the code that SAM builds, and no other.",
		of:  "AWS::Lambda::Function", place: "Properties.Code", want: `{S3Bucket: bucket, S3Key: key}`,
	},
	{
		why: "A function sends the data to AWS's own DynamoDB.",
		of:  "AWS::Lambda::Function", place: "Properties.Environment.Variables.AWS_ENDPOINT_URL_DYNAMODB", want: `''`,
	},
	{
		why: "The access log stays in the account, and has no header, path or address of a client.",
		of:  "AWS::ApiGatewayV2::Stage", place: "Properties.AccessLogSettings",
		want: `{DestinationArn: '${AccessLog.Arn}', Format: '{"requestId":"$context.requestId","time":"$context.requestTimeEpoch",
			"routeKey":"$context.routeKey","status":"$context.status","error":"$context.error.message",
			"authorizerError":"$context.authorizer.error",
			"integrationError":"$context.integration.error",
			"integrationStatus":"$context.integration.integrationStatus",
			"integrationRequestId":"$context.integration.requestId",
			"integrationLatency":"$context.integration.latency",
			"responseLatency":"$context.responseLatency"}'}`,
	},
	{
		why: "A flood gets 429.",
		of:  "AWS::ApiGatewayV2::Stage", place: "Properties.DefaultRouteSettings",
		want: `{ThrottlingBurstLimit: '${ThrottleBurst}', ThrottlingRateLimit: '${ThrottleRate}'}`,
	},
	{
		why: "The cost of a flood has a limit.",
		of:  "PlantsTable", place: "Properties.OnDemandThroughput", want: `{MaxWriteRequestUnits: '${MaxWriteUnits}'}`,
	},
	{
		why: "A domain requires TLS 1.2.",
		of:  "AWS::ApiGatewayV2::DomainName", place: "Properties.DomainNameConfigurations",
		want: `[{CertificateArn: '${CertificateArn}', EndpointType: REGIONAL, SecurityPolicy: TLS_1_2}]`,
	},
	{
		why: "The data stay when the stack is deleted.",
		of:  "AWS::DynamoDB::Table", place: "DeletionPolicy", want: `RetainExceptOnCreate`,
	},
	{
		why: "The data stay when a table is replaced.",
		of:  "AWS::DynamoDB::Table", place: "UpdateReplacePolicy", want: `Retain`,
	},
	{
		why: "Outside dev, nobody deletes a table by mistake.",
		of:  "AWS::DynamoDB::Table", place: "Properties.DeletionProtectionEnabled", want: `{Fn::If: [Guarded, true, false]}`,
	},
	{
		why: "The data can be brought back as of any second of the last 35 days.",
		of:  "AWS::DynamoDB::Table", place: "Properties.PointInTimeRecoverySpecification", want: `{PointInTimeRecoveryEnabled: true}`,
	},
	{
		why: "DynamoDB removes tokens that have expired.",
		of:  "TokensTable", place: "Properties.TimeToLiveSpecification", want: `{AttributeName: expires_at, Enabled: true}`,
	},
	{
		why: "The version before stays when a function is deleted, because a roll back needs it.",
		of:  "AWS::Lambda::Version", place: "DeletionPolicy", want: `Retain`,
	},
	{
		why: "The version before stays when a new one replaces it.",
		of:  "AWS::Lambda::Version", place: "UpdateReplacePolicy", want: `Retain`,
	},
	{
		why: "A new version first gets 10 % of the traffic, for ten minutes.",
		of:  "AWS::CodeDeploy::DeploymentGroup", place: "Properties.DeploymentConfigName", want: `CodeDeployDefault.LambdaCanary10Percent10Minutes`,
	},
	{
		why: "These alarms roll a deployment back. The others show no bad version, or anybody can fire them.",
		of:  "AWS::CodeDeploy::DeploymentGroup", place: "Properties.AlarmConfiguration",
		want: `{Enabled: true, Alarms: [{Name: '${ErrorsAlarm}'}, {Name: '${DegradedAlarm}'}, {Name: '${RefusalsAlarm}'}]}`,
	},
	{
		why: "A deployment that fails is rolled back.",
		of:  "AWS::CodeDeploy::DeploymentGroup", place: "Properties.AutoRollbackConfiguration",
		want: `{Enabled: true, Events: [DEPLOYMENT_FAILURE, DEPLOYMENT_STOP_ON_ALARM, DEPLOYMENT_STOP_ON_REQUEST]}`,
	},
	{
		why: "Somebody is told when an alarm fires.",
		of:  "AWS::CloudWatch::Alarm", place: "Properties.AlarmActions", want: `{Fn::If: [HasAlarmTopic, ['${AlarmTopic}'], '${AWS::NoValue}']}`,
	},
	{
		why: "Somebody is told when an alarm ends.",
		of:  "AWS::CloudWatch::Alarm", place: "Properties.OKActions", want: `{Fn::If: [HasAlarmTopic, ['${AlarmTopic}'], '${AWS::NoValue}']}`,
	},
	{
		why: "The alarms' metrics read JSON, from one log.",
		of:  "AWS::Lambda::Function", place: "Properties.LoggingConfig",
		want: `{ApplicationLogLevel: INFO, LogFormat: JSON, LogGroup: '${Log}', SystemLogLevel: '${SystemLogLevel}'}`,
	},
}

// accountGuards are those of deploy/account.yaml.
var accountGuards = []guard{
	{
		why: "Only AWS's services publish to the topic.",
		of:  "AWS::SNS::TopicPolicy", place: "Properties.PolicyDocument.Statement",
		want: `[
			{Effect: Allow, Principal: {Service: [budgets.amazonaws.com, cloudwatch.amazonaws.com]}, Action: sns:Publish, Resource: '${Topic}',
				Condition: {StringEquals: {aws:SourceAccount: '${AWS::AccountId}'}}},
			{Effect: Allow, Principal: {Service: events.amazonaws.com}, Action: sns:Publish, Resource: '${Topic}'}]`,
	},
	{
		why: "Backups have the key that a copy into another account needs.",
		of:  "AWS::Backup::BackupVault", place: "Properties.EncryptionKeyArn", want: `{Fn::If: [HasKey, '${VaultKey}', '${AWS::NoValue}']}`,
	},
	{
		why: "A backup is copied to CopyTo alone.",
		of:  "AWS::Backup::BackupPlan", place: "Properties.BackupPlan.BackupPlanRule",
		want: `[{RuleName: daily, TargetBackupVault: '${Vault}', ScheduleExpression: 'cron(0 5 * * ? *)', Lifecycle: {DeleteAfterDays: 7}, CopyActions: [
			{Fn::If: [Copy, {DestinationBackupVaultArn: '${CopyTo}', Lifecycle: {DeleteAfterDays: 35}}, '${AWS::NoValue}']}]}]`,
	},
	{
		why: "The tables of production have backups.",
		of:  "AWS::Backup::BackupSelection", place: "Properties.BackupSelection.Conditions",
		want: `{StringEquals: [
			{ConditionKey: aws:ResourceTag/Project, ConditionValue: plant-store}, {ConditionKey: aws:ResourceTag/Stage, ConditionValue: production}]}`,
	},
	{
		why: "Somebody is told of a backup that fails.",
		of:  "AWS::Events::Rule", place: "Properties.Targets", want: `[{Id: topic, Arn: '${Topic}'}]`,
	},
}

func TestGuards(t *testing.T) { checkGuards(t, guards, production(t)) }

func TestAccountGuards(t *testing.T) { checkGuards(t, accountGuards, translated(t).Stacks[account]) }

func checkGuards(t *testing.T, guards []guard, s stack) {
	t.Helper()
	for _, guard := range guards {
		t.Run(guard.why, func(t *testing.T) {
			want := decodeYAML(t, guard.want)
			for name, resource := range find(t, s, guard.of) {
				var got any = resource
				for member := range strings.SplitSeq(guard.place, ".") {
					members, _ := got.(object)
					got = members[member]
				}
				compare(t, name+"."+guard.place, got, want)
			}
		})
	}
}

// find returns the resources of a type, or the one of a name, or all. It fails the test if there are none.
func find(t *testing.T, s stack, of string) map[string]object {
	t.Helper()
	found := map[string]object{}
	for name, content := range s.Resources {
		resource, _ := decodeYAML(t, string(content)).(object) // JSON is YAML
		if of == "" || of == name || of == resource["Type"] {
			found[name] = resource
		}
	}
	if len(found) == 0 {
		t.Fatalf("there is no %s", of)
	}
	return found
}

func decodeYAML(t *testing.T, text string) (decoded any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &decoded); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return decoded
}

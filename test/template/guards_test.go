package template

import (
	"os"
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
		why: "The version before stays when a function is deleted, because a roll back needs it.",
		of:  "AWS::Lambda::Version", place: "DeletionPolicy", want: `Retain`,
	},
	{
		why: "The version before stays when a new one replaces it.",
		of:  "AWS::Lambda::Version", place: "UpdateReplacePolicy", want: `Retain`,
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
		why: "A backup is copied to CopyTo alone.",
		of:  "AWS::Backup::BackupPlan", place: "Properties.BackupPlan.BackupPlanRule",
		want: `[{RuleName: daily, TargetBackupVault: '${Vault}', ScheduleExpression: 'cron(0 5 * * ? *)', Lifecycle: {DeleteAfterDays: 7}, CopyActions: [
			{Fn::If: [Copy, {DestinationBackupVaultArn: '${CopyTo}', Lifecycle: {DeleteAfterDays: 35}}, '${AWS::NoValue}']}]}]`,
	},
	{
		why: "Somebody is told of a backup that fails.",
		of:  "AWS::Events::Rule", place: "Properties.Targets", want: `[{Id: topic, Arn: '${Topic}'}]`,
	},
}

func TestGuards(t *testing.T) { checkGuards(t, guards, production(t)) }

func TestAccountGuards(t *testing.T) {
	checkGuards(t, accountGuards, translated(t).Stacks[accountFile])
}

// TestBackups checks that deploy/account.yaml backs up the tables with the tags that samconfig.toml gives production.
func TestBackups(t *testing.T) {
	samconfig, err := os.ReadFile("samconfig.toml")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(samconfig), "\n[production.deploy.parameters]\n")
	block, _, _ = strings.Cut(block, "\n[")
	type selection struct {
		BackupSelection struct {
			Conditions struct {
				StringEquals []struct{ ConditionKey, ConditionValue string }
			}
		}
	}
	tables := resources[selection](t, translated(t).Stacks[accountFile], "AWS::Backup::BackupSelection")["Tables"]
	var tags []string
	for _, condition := range tables.BackupSelection.Conditions.StringEquals {
		tags = append(tags, strings.TrimPrefix(condition.ConditionKey, "aws:ResourceTag/")+"="+condition.ConditionValue)
	}
	if want := `tags = "` + strings.Join(tags, " ") + `"`; !strings.Contains(block, want) {
		t.Errorf("production has the block\n%s\nwhich lacks the tags of the tables that are backed up: %s", block, want)
	}
}

func checkGuards(t *testing.T, guards []guard, s stack) {
	t.Helper()
	for _, guard := range guards {
		t.Run(guard.why, func(t *testing.T) {
			want := decodeYAML(t, guard.want)
			for name, resource := range resources[object](t, s, guard.of) {
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

func decodeYAML(t *testing.T, text string) (decoded any) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(text), &decoded); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return decoded
}

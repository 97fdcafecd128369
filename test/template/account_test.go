package template

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestAccount checks the stack of an account. Only services of AWS publish to its topic, which is notified when a
// backup fails, and before the budget is spent. Only AWS Backup may assume the role.
func TestAccount(t *testing.T) {
	const (
		publish = `"Action":"sns:Publish",`
		alarms  = `{` + publish + `"Condition":{"StringEquals":{"aws:SourceAccount":"${AWS::AccountId}"}},"Effect":"Allow",` +
			`"Principal":{"Service":["budgets.amazonaws.com","cloudwatch.amazonaws.com"]},"Resource":"${Topic}"}`
		rules    = `{` + publish + `"Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Resource":"${Topic}"}`
		policies = "arn:${AWS::Partition}:iam::aws:policy/service-role/"
	)
	translated(t).Stacks["deploy/account.yaml"].Nodes.check(t, []value{
		{"TopicPolicy", "Topics", `["${Topic}"]`},
		{"TopicPolicy", "PolicyDocument.Statement", "[" + alarms + "," + rules + "]"},
		{"PagerSubscription", "Condition", "Pages"},
		{"Budget", "NotificationsWithSubscribers", `[{"Notification":{"ComparisonOperator":"GREATER_THAN","NotificationType":"ACTUAL",` +
			`"Threshold":80},"Subscribers":[{"Address":"${Topic}","SubscriptionType":"SNS"}]}]`},
		{"Vault", "EncryptionKeyArn", either("HasKey", `"${VaultKey}"`, noValue)},
		{"Plan", "BackupPlan.BackupPlanRule.0.TargetBackupVault", "${Vault}"},
		{"Plan", "BackupPlan.BackupPlanRule.0.CopyActions", "[" +
			either("Copy", `{"DestinationBackupVaultArn":"${CopyTo}","Lifecycle":{"DeleteAfterDays":35}}`, noValue) + "]"},
		{"Tables", "BackupSelection.Conditions", tagged(t, "production")},
		{"Tables", "BackupSelection.Resources", `["arn:${AWS::Partition}:dynamodb:*:*:table/*"]`},
		{"Tables", "BackupSelection.IamRoleArn", "${BackupRole.Arn}"},
		{"BackupRole", "AssumeRolePolicyDocument.Statement", trusted("backup.amazonaws.com")},
		{"BackupRole", "ManagedPolicyArns", `["` + policies + `AWSBackupServiceRolePolicyForBackup"]`},
		{"BackupFailed", "EventPattern", `{"detail":{"state":["ABORTED","EXPIRED","FAILED"]},"source":["aws.backup"]}`},
		{"BackupFailed", "Targets.0.Arn", "${Topic}"},
	}, func(place, _ string) bool {
		for _, part := range []string{".Condition.", ".Conditions.", ".Statement.", ".ManagedPolicyArns.", ".EventPattern.", ".Policies."} {
			if strings.Contains(place+".", part) {
				return true
			}
		}
		return false
	})
}

// tagged returns the conditions of a backup that takes what has the tags of an environment's stack.
func tagged(t *testing.T, environment string) string {
	t.Helper()
	var equal []object
	for tag := range strings.FieldsSeq(translated(t).Samconfig[environment+".tags"]) {
		key, text, _ := strings.Cut(tag, "=")
		equal = append(equal, object{"ConditionKey": "aws:ResourceTag/" + key, "ConditionValue": text})
	}
	conditions, err := json.Marshal(object{"StringEquals": equal})
	if err != nil {
		t.Fatal(err)
	}
	return string(conditions)
}

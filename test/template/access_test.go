package template

import (
	"slices"
	"strings"
	"testing"
)

// account is the stack with what production needs in its account.
const account = "deploy/account.yaml"

// roles has the properties of each role of both stacks, in YAML. A new function needs a row.
var roles = map[string]string{
	"CreatePlantRole": functionRole("dynamodb:PutItem", "PlantsTable"),
	"AuthorizerRole":  functionRole("dynamodb:GetItem", "TokensTable"),
	"CodeDeployRole": `{
		AssumeRolePolicyDocument: {Version: '2012-10-17', Statement: [
			{Effect: Allow, Action: sts:AssumeRole, Principal: {Service: codedeploy.amazonaws.com}}]},
		ManagedPolicyArns: ['arn:${AWS::Partition}:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda'],
		PermissionsBoundary: {Fn::If: [HasBoundary, '${PermissionsBoundary}', '${AWS::NoValue}']}}`,
	"BackupRole": `{
		AssumeRolePolicyDocument: {Version: '2012-10-17', Statement: [
			{Effect: Allow, Action: sts:AssumeRole, Principal: {Service: backup.amazonaws.com}}]},
		ManagedPolicyArns: ['arn:${AWS::Partition}:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup']}`,
}

// functionRole returns the properties of a role that may do one action on one table, and write the service's log.
func functionRole(action, table string) string {
	return strings.NewReplacer("ACTION", action, "TABLE", table).Replace(`{
		AssumeRolePolicyDocument: {Version: '2012-10-17', Statement: [
			{Effect: Allow, Action: sts:AssumeRole, Principal: {Service: lambda.amazonaws.com}}]},
		PermissionsBoundary: {Fn::If: [HasBoundary, '${PermissionsBoundary}', '${AWS::NoValue}']},
		Policies: [{PolicyName: function, PolicyDocument: {Version: '2012-10-17', Statement: [
			{Effect: Allow, Action: ACTION, Resource: '${TABLE.Arn}'},
			{Effect: Allow, Action: [logs:CreateLogStream, logs:PutLogEvents], Resource: '${Log.Arn}'}]}}]}`)
}

// TestRoles checks that whoever takes over a function has its few rights and no others, that nobody else gets them, and
// that an administrator can limit every role of the service by a permissions boundary.
func TestRoles(t *testing.T) {
	for _, s := range []stack{production(t), translated(t).Stacks[account]} {
		for name, role := range find(t, s, "AWS::IAM::Role") {
			want, isListed := roles[name]
			if !isListed {
				t.Errorf("%s is a new role: if its rights are as few as they can be, add it to roles", name)
				continue
			}
			compare(t, name, role["Properties"], decodeYAML(t, want))
		}
	}
	for name, f := range resources[function](t, production(t), "AWS::Lambda::Function") {
		if want := "${" + strings.TrimSuffix(name, "Function") + "Role.Arn}"; f.Role != want {
			t.Errorf("%s has the role %s, want its own, %s", name, f.Role, want)
		}
	}
}

// TestAllowedTypes checks that the stacks have only resources and properties that open no other way to a function, to
// the data or to the logs, as a function URL, a policy of IAM or a stream of a table would.
func TestAllowedTypes(t *testing.T) {
	for name, types := range map[string]map[string]string{
		gradual: {
			"AWS::ApiGatewayV2::Api":        "Body",
			"AWS::ApiGatewayV2::ApiMapping": "ApiId DomainName Stage",
			"AWS::ApiGatewayV2::DomainName": "DomainName DomainNameConfigurations",
			"AWS::ApiGatewayV2::Stage":      "AccessLogSettings ApiId AutoDeploy DefaultRouteSettings StageName Tags",
			"AWS::CloudWatch::Alarm": "AlarmActions AlarmDescription ComparisonOperator DatapointsToAlarm EvaluationPeriods Metrics " +
				"MetricName Namespace OKActions Period Statistic Threshold TreatMissingData",
			"AWS::CloudWatch::Dashboard":       "DashboardBody DashboardName",
			"AWS::CodeDeploy::Application":     "ComputePlatform",
			"AWS::CodeDeploy::DeploymentGroup": "AlarmConfiguration ApplicationName AutoRollbackConfiguration DeploymentConfigName DeploymentStyle ServiceRoleArn",
			"AWS::DynamoDB::Table": "AttributeDefinitions BillingMode DeletionProtectionEnabled KeySchema OnDemandThroughput " +
				"PointInTimeRecoverySpecification TimeToLiveSpecification",
			"AWS::IAM::Role":     "AssumeRolePolicyDocument ManagedPolicyArns PermissionsBoundary Policies",
			"AWS::Lambda::Alias": "FunctionName FunctionVersion Name",
			"AWS::Lambda::Function": "Architectures Code Description Environment Handler LoggingConfig MemorySize " +
				"ReservedConcurrentExecutions Role Runtime Tags Timeout",
			"AWS::Lambda::Permission": "Action FunctionName Principal SourceArn",
			"AWS::Lambda::Version":    "Description FunctionName",
			"AWS::Logs::LogGroup":     "LogGroupName RetentionInDays",
			"AWS::Logs::MetricFilter": "FilterPattern LogGroupName MetricTransformations",
		},
		account: {
			"AWS::Backup::BackupPlan":      "BackupPlan",
			"AWS::Backup::BackupSelection": "BackupPlanId BackupSelection",
			"AWS::Backup::BackupVault":     "BackupVaultName EncryptionKeyArn",
			"AWS::Budgets::Budget":         "Budget NotificationsWithSubscribers",
			"AWS::Events::Rule":            "EventPattern Targets",
			"AWS::IAM::Role":               "AssumeRolePolicyDocument ManagedPolicyArns",
			"AWS::SNS::Subscription":       "Endpoint FilterPolicy FilterPolicyScope Protocol TopicArn",
			"AWS::SNS::Topic":              "Subscription",
			"AWS::SNS::TopicPolicy":        "PolicyDocument Topics",
		},
	} {
		for resource, content := range find(t, translated(t).Stacks[name], "") {
			kind, _ := content["Type"].(string)
			allowed, isAllowed := types[kind]
			if !isAllowed {
				t.Errorf("%s has %s, a %s: if that lets nothing in or out, allow it in this test", name, resource, kind)
			}
			properties, _ := content["Properties"].(object)
			for property := range properties {
				if isAllowed && !slices.Contains(strings.Fields(allowed), property) {
					t.Errorf("%s of %s has a %s: if that lets nothing in or out, allow it in this test", resource, name, property)
				}
			}
		}
	}
}

// TestAuthorized checks that nobody gets past the authorizer: each route of an API names it, and only the API may call
// a function.
func TestAuthorized(t *testing.T) {
	type api struct {
		Body struct {
			Paths map[string]map[string]struct{ Security any } // by path and method
		}
	}
	for name, a := range resources[api](t, production(t), "AWS::ApiGatewayV2::Api") {
		if len(a.Body.Paths) == 0 {
			t.Errorf("%s has no paths", name)
		}
		for path, methods := range a.Body.Paths {
			for method, operation := range methods {
				if got := inJSON(operation.Security); got != `[{"TokenAuthorizer":[]}]` {
					t.Errorf("%s of %s has the security %s, want the authorizer", method, path, got)
				}
			}
		}
	}
	type permission struct{ Action, Principal, SourceArn string }
	for name, p := range resources[permission](t, production(t), "AWS::Lambda::Permission") {
		isOfAPI := strings.HasPrefix(p.SourceArn, "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${HttpApi}/")
		if p.Action != "lambda:InvokeFunction" || p.Principal != "apigateway.amazonaws.com" || !isOfAPI {
			t.Errorf("%s is %+v, want that HttpApi alone calls the function", name, p)
		}
	}
}

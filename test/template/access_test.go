package template

import (
	"slices"
	"strings"
	"testing"
)

// accountFile is the stack with what production needs in its account.
const accountFile = "deploy/account.yaml"

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
	for _, s := range []stack{production(t), translated(t).Stacks[accountFile]} {
		for name, role := range resources[object](t, s, "AWS::IAM::Role") {
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

// allowedTypes has the types of resources that open no other way to a function, to the data or to the logs, as a
// function URL or a policy of IAM would.
var allowedTypes = []string{
	"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::Stage",
	"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard",
	"AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup",
	"AWS::DynamoDB::Table", "AWS::IAM::Role",
	"AWS::Lambda::Alias", "AWS::Lambda::Function", "AWS::Lambda::Permission", "AWS::Lambda::Version",
	"AWS::Logs::LogGroup", "AWS::Logs::MetricFilter",
}

// TestAllowedTypes checks that the stack has only resources of allowedTypes, and that no table is open by a policy of
// its own or by a stream.
func TestAllowedTypes(t *testing.T) {
	for name, resource := range resources[struct{ Type string }](t, production(t), "") {
		if !slices.Contains(allowedTypes, resource.Type) {
			t.Errorf("%s is a %s: if that lets nothing in or out, add it to allowedTypes", name, resource.Type)
		}
	}
	type table struct{ ResourcePolicy, StreamSpecification, KinesisStreamSpecification any }
	for name, got := range resources[table](t, production(t), "AWS::DynamoDB::Table") {
		if got != (table{}) {
			t.Errorf("%s has %+v, want neither a policy nor a stream", name, got)
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

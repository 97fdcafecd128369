package template

import "fmt"

// checkPaths holds single values of the template, each with the reason for it.
func checkPaths(p *problems, t template) {
	const (
		resources   = "Resources."
		authorizer  = resources + "HttpApi.Properties.Auth.Authorizers.TokenAuthorizer."
		createplant = resources + "CreatePlantFunction.Properties."
		guarded     = "map[!If:[Guarded true false]]"
		trust       = "map[Statement:[map[Action:sts:AssumeRole Effect:Allow Principal:map[Service:lambda.amazonaws.com]]] Version:2012-10-17]"
		logsAndX    = " map[Action:[xray:PutTraceSegments xray:PutTelemetryRecords] Effect:Allow Resource:*]]"
	)
	role := func(action, table, log string) string {
		return "[map[PolicyDocument:map[Statement:[map[Action:dynamodb:" + action + " Effect:Allow Resource:!GetAtt " + table + ".Arn] " +
			"map[Action:[logs:CreateLogStream logs:PutLogEvents] Effect:Allow Resource:!GetAtt " + log + ".Arn]" + logsAndX +
			" Version:2012-10-17] PolicyName:function]]"
	}
	for _, test := range []struct {
		why, path, want string
	}{
		{"every route has the authorizer", resources + "HttpApi.Properties.Auth.DefaultAuthorizer", "TokenAuthorizer"},
		{"a revoked token is refused at once", authorizer + "Identity.ReauthorizeEvery", "0"},
		{"the authorizer runs without an Authorization header too", authorizer + "Identity.Context", "[routeKey]"},
		{"the authorizer answers with a context", authorizer + "EnableSimpleResponses", "true"},
		{"the handlers read payload format 2.0", authorizer + "AuthorizerPayloadFormatVersion", "2.0"},
		{"API Gateway may call the authorizer", authorizer + "EnableFunctionDefaultPermissions", "true"},
		{"the authorizer's alias, as `sam local` can read it", authorizer + "FunctionArn", "!Sub ${AuthorizerFunction.Arn}:live"},
		{"that alias is there before the API", resources + "HttpApi.DependsOn", "AuthorizerFunctionAliaslive"},
		{"the alias", "Globals.Function.AutoPublishAlias", "live"},
		{"the only route", createplant + "Events.CreatePlant.Properties.Path", "/plants"},
		{"the only method", createplant + "Events.CreatePlant.Properties.Method", "POST"},
		{"createplant's deadline, as in package gateway", createplant + "Timeout", "10"},
		{"the authorizer's deadline, as in package gateway", resources + "AuthorizerFunction.Properties.Timeout", "5"},
		{"createplant's table", createplant + "Environment.Variables.PLANTS_TABLE", "!Ref PlantsTable"},
		{"the authorizer's table", resources + "AuthorizerFunction.Properties.Environment.Variables.TOKENS_TABLE", "!Ref TokensTable"},
		{"an endpoint that `sam local` can set, and the runtime as it was measured", "Globals.Function.Environment.Variables", "map[AWS_ENDPOINT_URL_DYNAMODB: GOGC:400 GOMAXPROCS:1 GOMEMLIMIT:160MiB]"},
		{"the memory as it was measured", "Globals.Function.MemorySize", "256"},
		{"requests are traced", "Globals.Function.Tracing", "Active"},
		{"the bounds of a flood", resources + "HttpApi.Properties.DefaultRouteSettings", "map[ThrottlingBurstLimit:500 ThrottlingRateLimit:1000]"},
		{"the address that the smoke test reads", "Outputs.Url.Value", "!Sub https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}"},
		{"createplant has its role", createplant + "Role", "!GetAtt CreatePlantRole.Arn"},
		{"the authorizer has its role", resources + "AuthorizerFunction.Properties.Role", "!GetAtt AuthorizerRole.Arn"},
		{"Lambda takes createplant's role", resources + "CreatePlantRole.Properties.AssumeRolePolicyDocument", trust},
		{"Lambda takes the authorizer's role", resources + "AuthorizerRole.Properties.AssumeRolePolicyDocument", trust},
		{"createplant may put, log and trace", resources + "CreatePlantRole.Properties.Policies", role("PutItem", "PlantsTable", "CreatePlantLog")},
		{"the authorizer may get, log and trace", resources + "AuthorizerRole.Properties.Policies", role("GetItem", "TokensTable", "AuthorizerLog")},
		{"createplant's role has nothing besides", resources + "CreatePlantRole.Properties.ManagedPolicyArns", "<nil>"},
		{"the authorizer's role has nothing besides", resources + "AuthorizerRole.Properties.ManagedPolicyArns", "<nil>"},
		{"plants are found by id", resources + "PlantsTable.Properties.AttributeDefinitions", "[map[AttributeName:id AttributeType:N]]"},
		{"tokens are found by digest", resources + "TokensTable.Properties.AttributeDefinitions", "[map[AttributeName:digest AttributeType:S]]"},
		{"expired tokens are removed", resources + "TokensTable.Properties.TimeToLiveSpecification", "map[AttributeName:expires_at Enabled:true]"},
		{"plants outlive their stack, without an intrinsic function", resources + "PlantsTable.DeletionPolicy", "RetainExceptOnCreate"},
		{"tokens outlive their stack, without an intrinsic function", resources + "TokensTable.DeletionPolicy", "RetainExceptOnCreate"},
		{"plants outlive their table's replacement", resources + "PlantsTable.UpdateReplacePolicy", "Retain"},
		{"tokens outlive their table's replacement", resources + "TokensTable.UpdateReplacePolicy", "Retain"},
		{"plants are protected by stage", resources + "PlantsTable.Properties.DeletionProtectionEnabled", guarded},
		{"tokens are protected by stage", resources + "TokensTable.Properties.DeletionProtectionEnabled", guarded},
		{"all stages but dev are guarded", "Conditions.Guarded", "map[!Not:[map[!Equals:[!Ref Stage dev]]]]"},
		{"plants can be restored", resources + "PlantsTable.Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"},
		{"tokens can be restored", resources + "TokensTable.Properties.PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled", "true"},
	} {
		if got := fmt.Sprint(t.at(test.path)); got != test.want {
			p.add("%s: %s = %s, want %s", test.why, test.path, got, test.want)
		}
	}
}

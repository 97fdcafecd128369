package template

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	noValue    = `"${AWS::NoValue}"`
	authorizer = "Body.components.securitySchemes.TokenAuthorizer.x-amazon-apigateway-authorizer."
	execute    = "arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${HttpApi}/"
	invoke     = ":apigateway:${AWS::Region}:lambda:path/2015-03-31/functions/"
	// The alias live, by which a deployment shifts and rolls back.
	integration = `{"httpMethod":"POST","payloadFormatVersion":"2.0","type":"aws_proxy",` +
		`"uri":"arn:${AWS::Partition}` + invoke + `${CreatePlantFunctionAliaslive}/invocations"}`
	// What operators search, and nothing that a client sends.
	accessLog = `{"requestId":"$context.requestId","time":"$context.requestTimeEpoch", ` +
		`"routeKey":"$context.routeKey","status":"$context.status","error":"$context.error.message", ` +
		`"authorizerError":"$context.authorizer.error", "integrationError":"$context.integration.error", ` +
		`"integrationStatus":"$context.integration.integrationStatus", ` +
		`"integrationRequestId":"$context.integration.requestId", "integrationLatency":"$context.integration.latency", ` +
		`"responseLatency":"$context.responseLatency"}`
)

// either is what stands at a place if a condition is met, and otherwise, in JSON.
func either(condition, met, otherwise string) string {
	return fmt.Sprintf(`{"Fn::If":[%q,%s,%s]}`, condition, met, otherwise)
}

// counted is what a metric filter emits.
func counted(metric string) string {
	return `[{"DefaultValue":0,"MetricName":"` + metric + `","MetricNamespace":"PlantStore/${AWS::StackName}","MetricValue":"1"}]`
}

// trusted is who may assume a role.
func trusted(service string) string {
	return `[{"Action":"sts:AssumeRole","Effect":"Allow","Principal":{"Service":"` + service + `"}}]`
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

// mayDo is what a function may do: one action on its table, besides writing its log.
func mayDo(action, table string) string {
	return "[" + allow(action, "${"+table+".Arn}", nil) + "," + allow("logs:CreateLogStream logs:PutLogEvents", "${Log.Arn}", nil) + "]"
}

// ours is what an alarm reads of the metrics of a stack.
func ours(statistic, metric string, period int) string {
	return fmt.Sprintf(`{"Metric":{"MetricName":%q,"Namespace":"PlantStore/${AWS::StackName}"},"Period":%d,"Stat":%q}`, metric, period, statistic)
}

// gateways is what an alarm reads of API Gateway, whose metrics have other names for REST APIs.
func gateways(metric string, period int) string {
	return fmt.Sprintf(`{"Metric":{"Dimensions":[{"Name":"ApiId","Value":"${HttpApi}"}],"MetricName":%q,"Namespace":"AWS/ApiGateway"},"Period":%d,"Stat":"Sum"}`, metric, period)
}

// values has each place of the stack and of its outputs that has a parameter, a condition, a right, a role, a route,
// a removal or a policy of deletion. Descriptions are left out. It also has the constants that guard data, access or
// an alarm.
var values = []value{
	{"*Function", "Environment.Variables.BUILD", "${Build}"},
	{"Outputs/Build", "Value", "${Build}"},
	{"*Function", "Environment.Variables.AWS_ENDPOINT_URL_DYNAMODB", ""},               // AWS's own
	{"AuthorizerFunction", "Environment.Variables.TOKEN_ISSUER", "${TokenIssuer}"},     // part: jwt
	{"AuthorizerFunction", "Environment.Variables.TOKEN_AUDIENCE", "${TokenAudience}"}, // part: jwt
	{"*Function", "Architectures", `["${Architecture}"]`},
	{"*Function", "MemorySize", "${Memory}"},
	{"*Function", "ReservedConcurrentExecutions", either("HasReservation", `"${ReservedConcurrency}"`, noValue)},
	// The metric filters read JSON.
	{"*Function", "LoggingConfig", `{"ApplicationLogLevel":"INFO","LogFormat":"JSON","LogGroup":"${Log}","SystemLogLevel":"${SystemLogLevel}"}`},
	{"SAM/*Function", "AutoPublishAliasAllProperties", "true"}, // any change makes a version
	{"*FunctionVersion*", "DeletionPolicy", "Retain"},          // for a roll back
	{"*FunctionVersion*", "UpdateReplacePolicy", "Retain"},
	{"CreatePlantFunction", "Role", "${CreatePlantRole.Arn}"},
	{"AuthorizerFunction", "Role", "${AuthorizerRole.Arn}"},
	{"CreatePlantFunction", "Environment.Variables.PLANTS_TABLE", "${PlantsTable}"},
	{"AuthorizerFunction", "Environment.Variables.TOKENS_TABLE", "${TokensTable}"},
	{"CreatePlantRole", "Policies.0.PolicyDocument.Statement", mayDo("dynamodb:PutItem", "PlantsTable")},
	{"AuthorizerRole", "Policies.0.PolicyDocument.Statement", mayDo("dynamodb:GetItem", "TokensTable")},
	{"CreatePlantRole", "AssumeRolePolicyDocument.Statement", trusted("lambda.amazonaws.com")},
	{"AuthorizerRole", "AssumeRolePolicyDocument.Statement", trusted("lambda.amazonaws.com")},
	{"CodeDeployRole", "AssumeRolePolicyDocument.Statement", trusted("codedeploy.amazonaws.com")},
	{"CodeDeployRole", "ManagedPolicyArns", `["arn:${AWS::Partition}:iam::aws:policy/service-role/AWSCodeDeployRoleForLambda"]`},
	{"*Role", "PermissionsBoundary", either("HasBoundary", `"${PermissionsBoundary}"`, noValue)},

	{"HttpApi", "Body.paths./plants.post", `{"responses":{},"security":[{"TokenAuthorizer":[]}],"x-amazon-apigateway-integration":` + integration + "}"},
	// The authorizer runs for every request, because each has a route key, and no verdict is cached.
	{"HttpApi", authorizer + "identitySource", `["$context.routeKey"]`},
	{"HttpApi", authorizer + "authorizerResultTtlInSeconds", "0"},
	{"HttpApi", authorizer + "authorizerUri", "arn:aws" + invoke + "${AuthorizerFunction.Arn}:live/invocations"},
	{"HttpApi", authorizer + "authorizerPayloadFormatVersion", "2.0"},
	{"HttpApi", authorizer + "enableSimpleResponses", "true"},
	{"HttpApi", "DependsOn", "AuthorizerFunctionAliaslive"},
	// part: cors {
	// TestOptions, in internal/cors, checks the rest.
	{"HttpApi", "Body.x-amazon-apigateway-cors.Fn::If.0", "HasAllowedOrigins"},
	{"HttpApi", "Body.x-amazon-apigateway-cors.Fn::If.1.allowOrigins", `{"Fn::Split":[",","${AllowedOrigins}"]}`},
	{"HttpApi", "Body.x-amazon-apigateway-cors.Fn::If.2", "${AWS::NoValue}"},
	// }
	{"HttpApiApiGatewayDefaultStage", "DefaultRouteSettings", `{"ThrottlingBurstLimit":"${ThrottleBurst}","ThrottlingRateLimit":"${ThrottleRate}"}`},
	{"HttpApiApiGatewayDefaultStage", "AccessLogSettings", `{"DestinationArn":"${AccessLog.Arn}","Format":` + fmt.Sprintf("%q", accessLog) + "}"},
	{"CreatePlantFunctionCreatePlantPermission", "FunctionName", "${CreatePlantFunctionAliaslive}"},
	{"CreatePlantFunctionCreatePlantPermission", "Principal", "apigateway.amazonaws.com"},
	{"CreatePlantFunctionCreatePlantPermission", "SourceArn", execute + "*/POST/plants"},
	{"HttpApiTokenAuthorizerAuthorizerPermission", "FunctionName", "${AuthorizerFunction.Arn}:live"},
	{"HttpApiTokenAuthorizerAuthorizerPermission", "Principal", "apigateway.amazonaws.com"},
	{"HttpApiTokenAuthorizerAuthorizerPermission", "SourceArn", execute + "authorizers/*"},
	{"Outputs/Url", "Value", "https://${HttpApi}.execute-api.${AWS::Region}.${AWS::URLSuffix}"},
	{"Domain*", "Condition", "HasDomain"},
	{"Outputs/DomainTarget", "Condition", "HasDomain"},
	{"Outputs/RegionalHostedZoneId", "Condition", "HasDomain"},
	{"Domain", "DomainName", "${DomainName}"},
	{"Domain", "DomainNameConfigurations", `[{"CertificateArn":"${CertificateArn}","EndpointType":"REGIONAL","SecurityPolicy":"TLS_1_2"}]`},

	{"*Table", "DeletionPolicy", "RetainExceptOnCreate"},
	{"*Table", "UpdateReplacePolicy", "Retain"},
	{"*Table", "DeletionProtectionEnabled", either("Guarded", "true", "false")},
	{"*Table", "PointInTimeRecoverySpecification", `{"PointInTimeRecoveryEnabled":true}`}, // for 35 days, the default
	{"PlantsTable", "OnDemandThroughput", `{"MaxWriteRequestUnits":"${MaxWriteUnits}"}`},
	{"TokensTable", "TimeToLiveSpecification", `{"AttributeName":"expires_at","Enabled":true}`},

	{"*Log", "RetentionInDays", "${LogRetention}"},
	{"Log", "LogGroupName", "/aws/lambda/${AWS::StackName}"},
	{"AccessLog", "LogGroupName", "/aws/vendedlogs/${AWS::StackName}-access"},
	// What nobody without a token can cause, as it rolls a deployment back: no 2xxx, however slow.
	{"RequestsMetric", "FilterPattern", `{ ($.duration_ms >= 0) && ($.msg != "authorize") && ($.code < 2000 || $.code > 3000) }`},
	{"ErrorsMetric", "FilterPattern", "{ $.code = 5001 }"},
	{"DegradedMetric", "FilterPattern", `{ ($.code > 5001 && $.msg != "authorize") || ($.duration_ms > 500 && ` +
		`($.code < 2000 || ($.code > 3000 && $.code < 5000))) }`},
	{"RefusalsMetric", "FilterPattern", `{ $.code > 1000 && $.code < 2000 && $.subject != "smoke-test" }`},
	{"ThrottledMetric", "FilterPattern", `{ $.status = "429" }`},
	// A client's token. The lines of JWTs have no subject. // part: jwt
	{"ExpiredMetric", "FilterPattern", `{ $.msg = "authorize" && $.reason = "expired" && $.subject = %\S% && ` +
		`$.subject != "smoke-test" && $.subject != "smoke-test-other" }`},
	{"RequestsMetric", "MetricTransformations", `[{"MetricName":"Requests","MetricNamespace":"PlantStore/${AWS::StackName}","MetricValue":"$.duration_ms"}]`},
	{"ErrorsMetric", "MetricTransformations", counted("Errors")},
	{"DegradedMetric", "MetricTransformations", counted("Degraded")},
	{"RefusalsMetric", "MetricTransformations", counted("Refusals")},
	{"ThrottledMetric", "MetricTransformations", counted("Throttled")},
	{"ExpiredMetric", "MetricTransformations", counted("Expired")},
	{"RequestsMetric", "LogGroupName", "${Log}"},
	{"ErrorsMetric", "LogGroupName", "${Log}"},
	{"DegradedMetric", "LogGroupName", "${Log}"},
	{"RefusalsMetric", "LogGroupName", "${Log}"},
	{"ThrottledMetric", "LogGroupName", "${AccessLog}"},
	{"ExpiredMetric", "LogGroupName", "${Log}"},
	{"*Alarm", "AlarmActions", either("HasAlarmTopic", `["${AlarmTopic}"]`, noValue)},
	{"*Alarm", "OKActions", either("HasAlarmTopic", `["${AlarmTopic}"]`, noValue)},
	{"ErrorsAlarm", "Metrics.1.ReturnData", "false"}, // an alarm watches its expression alone
	{"ErrorsAlarm", "Metrics.2.ReturnData", "false"},
	{"[DRGT]*Alarm", "Metrics.1.ReturnData", "false"},
	{"[DRGT]*Alarm", "Metrics.2.ReturnData", "false"},
	{"*Alarm", "TreatMissingData", "notBreaching"}, // silence is no alarm
	{"*Alarm", "ComparisonOperator", "GreaterThanThreshold"},
	{"ErrorsAlarm", "Metrics.1.MetricStat", ours("Sum", "Errors", 60)},
	{"DegradedAlarm", "Metrics.1.MetricStat", ours("Sum", "Degraded", 60)},
	{"DegradedAlarm", "Metrics.2.MetricStat", ours("SampleCount", "Requests", 60)}, // its values are durations
	{"RefusalsAlarm", "Metrics.1.MetricStat", ours("Sum", "Refusals", 60)},
	{"RefusalsAlarm", "Metrics.2.MetricStat", ours("SampleCount", "Requests", 60)},
	{"GatewayAlarm", "Metrics.1.MetricStat", gateways("5xx", 60)},
	{"GatewayAlarm", "Metrics.2.MetricStat", gateways("Count", 60)},
	{"ThrottledAlarm", "Metrics.1.MetricStat", ours("Sum", "Throttled", 300)},
	{"ThrottledAlarm", "Metrics.2.MetricStat", gateways("Count", 300)},
	{"RefusalsAlarm", "Threshold", "${RefusalLimit}"},
	// The first error fires.
	{"ErrorsAlarm", "Metrics.0.Expression", "SUM(FILL(METRICS(), 0))"},
	{"ErrorsAlarm", "Threshold", "0"},
	// One request fires.
	{"ExpiredAlarm", "Namespace", "PlantStore/${AWS::StackName}"},
	{"ExpiredAlarm", "MetricName", "Expired"},
	{"ExpiredAlarm", "Statistic", "Sum"},
	{"ExpiredAlarm", "Threshold", "0"},
	// Alarms on the API are not here, because anybody can cause them. Nor is ExpiredAlarm: no deployment
	// causes it.
	{"*DeploymentGroup", "AlarmConfiguration.Alarms", `[{"Name":"${ErrorsAlarm}"},{"Name":"${DegradedAlarm}"},{"Name":"${RefusalsAlarm}"}]`},
	{"*DeploymentGroup", "DeploymentConfigName", "CodeDeployDefault.LambdaCanary10Percent10Minutes"},
	{"*DeploymentGroup", "ServiceRoleArn", "${CodeDeployRole.Arn}"},
}

// TestValues checks the table of values, and that each parameter, condition, right, role, route, removal or
// policy of deletion is in it.
func TestValues(t *testing.T) {
	s := production(t)
	s.Nodes.check(t, values, func(place, text string) bool {
		isListed := false
		for _, part := range []string{
			".Condition.", ".DeletionPolicy.", ".Fn::If.0.", ".ManagedPolicyArns.", ".Principal.", ".Role.", ".Statement.", ".TimeToLiveSpecification.", ".paths.",
		} {
			isListed = isListed || strings.Contains(place+".", part)
		}
		for parameter := range s.Parameters {
			isListed = isListed || strings.Contains(text, "${"+parameter+"}")
		}
		isText := strings.HasSuffix(place, "Description") // see TestAlarms and TestVersions
		return isListed && !isText && !strings.HasPrefix(place, "SAM/")
	})
}

package template

import "slices"

// doors are the types of resource that the template has, and the properties that
// decide who may do what. Any other could let somebody in past the authorizer: a
// function URL, a permission or a route of its own, a policy of a table.
var doors = map[string][]string{
	"AWS::CloudWatch::Alarm":     nil, // opens nothing, and has a check of its own
	"AWS::CloudWatch::Dashboard": nil,
	"AWS::Logs::MetricFilter":    nil,
	"AWS::Logs::LogGroup":        {"LogGroupName", "RetentionInDays"},
	"AWS::IAM::Role":             {"AssumeRolePolicyDocument", "Policies"},
	"AWS::DynamoDB::Table": {
		"AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled", "KeySchema",
		"PointInTimeRecoverySpecification", "TimeToLiveSpecification",
	},
	"AWS::Serverless::HttpApi": {"AccessLogSettings", "Auth", "DefaultRouteSettings"},
	"AWS::Serverless::Function": {
		"AutoPublishAliasAllProperties", "Description", "Environment", "Events", "LoggingConfig", "Role", "Timeout",
	},
}

func checkDoors(p *problems, t template) {
	for _, name := range t.names("Resources") {
		at := "Resources." + name
		known, allowed := doors[t.text(at+".Type")]
		if !allowed {
			p.add("%s is a %s: say here that it lets nobody in", name, t.text(at+".Type"))
		}
		for _, property := range t.names(at + ".Properties") {
			if known != nil && !slices.Contains(known, property) {
				p.add("%s has the property %s: say here that it lets nobody in", name, property)
			}
		}
	}
	shared := []string{
		"Architectures", "AutoPublishAlias", "CodeUri", "DeploymentPreference", "Environment", "Handler", "MemorySize", "Runtime", "Tracing",
	}
	if got := t.names("Globals.Function"); !slices.Equal(got, shared) {
		p.add("the functions share %v, want %v", got, shared)
	}
	if got := t.names("Globals"); !slices.Equal(got, []string{"Function"}) {
		p.add("Globals has %v, want Function alone", got)
	}
	if got := t.names("Resources.HttpApi.Properties.Auth"); !slices.Equal(got, []string{"Authorizers", "DefaultAuthorizer"}) {
		p.add("HttpApi's Auth has %v, want Authorizers and DefaultAuthorizer alone", got)
	}
}

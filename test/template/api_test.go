package template

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"plantstore/internal/api"
)

// httpAPI is an AWS::ApiGatewayV2::Api, whose body is OpenAPI.
type httpAPI struct {
	Body struct {
		Paths map[string]map[string]struct {
			Security []map[string][]string
		}
		Components struct {
			SecuritySchemes map[string]struct {
				Authorizer authorizer `json:"x-amazon-apigateway-authorizer"`
			}
		}
		Servers []struct {
			Endpoint struct{ DisableExecuteAPIEndpoint any } `json:"x-amazon-apigateway-endpoint-configuration"`
		}
	}
}

type authorizer struct {
	EnableSimpleResponses          bool
	AuthorizerPayloadFormatVersion string
	IdentitySource                 []string
	AuthorizerResultTTLInSeconds   *int
}

// TestAuthorizer checks that the API has the routes of the service, and that the authorizer runs for
// every request of each: a request has a route key, and no verdict is cached.
func TestAuthorizer(t *testing.T) {
	body := properties[httpAPI](t, production(t), "AWS::ApiGatewayV2::Api")["HttpApi"].Body
	want := []authorizer{{
		EnableSimpleResponses:          true,
		AuthorizerPayloadFormatVersion: "2.0",
		IdentitySource:                 []string{"$context.routeKey"},
		AuthorizerResultTTLInSeconds:   new(0),
	}}
	var routes []string
	for path, methods := range body.Paths {
		for method, operation := range methods {
			routes = append(routes, strings.ToUpper(method)+" "+path)
			var got []authorizer
			for _, requirement := range operation.Security {
				for name := range requirement {
					got = append(got, body.Components.SecuritySchemes[name].Authorizer)
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s %s has the authorizers %+v, want one that runs for every request", method, path, got)
			}
		}
	}
	slices.Sort(routes)
	if want := api.Routes(); !slices.Equal(routes, want) {
		t.Errorf("the API has the routes %v, and internal/api %v: see the functions' Events in template.yaml", routes, want)
	}
}

// TestAliases checks that API Gateway invokes the alias live of each function, by which a
// deployment shifts and rolls back, and that it may.
func TestAliases(t *testing.T) {
	s := production(t)
	body := string(s.Resources["HttpApi"].Properties)
	permissions := properties[permission](t, s, "AWS::Lambda::Permission")
	for name := range properties[function](t, s, "AWS::Lambda::Function") {
		alias, arn := "${"+name+"Aliaslive}", "${"+name+".Arn}:live"
		if !strings.Contains(body, alias) && !strings.Contains(body, arn) {
			t.Errorf("the API does not invoke the alias live of %s", name)
		}
		isPermitted := false
		for _, p := range permissions {
			isPermitted = isPermitted || p.FunctionName == alias || p.FunctionName == arn
		}
		if !isPermitted {
			t.Errorf("the API may not invoke the alias live of %s", name)
		}
	}
}

// TestClosed checks that AWS's own address is off if the parameter DefaultAddress says so, and only then.
func TestClosed(t *testing.T) {
	s := production(t)
	want := object{"Fn::If": []any{"Closed", true, false}}
	servers := properties[httpAPI](t, s, "AWS::ApiGatewayV2::Api")["HttpApi"].Body.Servers
	if len(servers) != 1 || !reflect.DeepEqual(servers[0].Endpoint.DisableExecuteAPIEndpoint, want) {
		t.Errorf("AWS's own address is off by %v, want %v", servers, want)
	}
	isClosed := object{"Fn::Equals": []any{"${DefaultAddress}", "closed"}}
	if got := s.Conditions["Closed"]; !reflect.DeepEqual(got, isClosed) {
		t.Errorf("Closed is %v, want %v", got, isClosed)
	}
}

type permission struct {
	FunctionName string
	Principal    string
	SourceArn    string
}

// TestDoors allows only what lets nobody in past the authorizer: no function URL, no
// permission for another service, no policy and no stream of a table. Only the domain's resources are conditional.
func TestDoors(t *testing.T) {
	s := production(t)
	known := []string{
		"AWS::ApiGatewayV2::Api", "AWS::ApiGatewayV2::ApiMapping", "AWS::ApiGatewayV2::DomainName", "AWS::ApiGatewayV2::Stage",
		"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard", "AWS::CodeDeploy::Application", "AWS::CodeDeploy::DeploymentGroup",
		"AWS::DynamoDB::Table", "AWS::IAM::Role", "AWS::Lambda::Alias", "AWS::Lambda::Function", "AWS::Lambda::Permission",
		"AWS::Lambda::Version", "AWS::Logs::LogGroup", "AWS::Logs::MetricFilter",
	}
	for name, resource := range s.Resources {
		if !slices.Contains(known, resource.Type) {
			t.Errorf("%s is a %s: if that lets nobody in, allow it in this test", name, resource.Type)
		}
		if resource.Condition != "" && name != "Domain" && name != "DomainMapping" {
			t.Errorf("%s is there only if %s: if the rest is safe without it, allow it in this test", name, resource.Condition)
		}
	}
	for name, p := range properties[permission](t, s, "AWS::Lambda::Permission") {
		if p.Principal != "apigateway.amazonaws.com" || !strings.Contains(p.SourceArn, ":${HttpApi}/") {
			t.Errorf("%s lets %s in from %v, want the API alone", name, p.Principal, p.SourceArn)
		}
	}
	knownOfTable := []string{
		"AttributeDefinitions", "BillingMode", "DeletionProtectionEnabled", "KeySchema", "OnDemandThroughput", "PointInTimeRecoverySpecification",
		"TimeToLiveSpecification",
	}
	for name, table := range properties[object](t, s, "AWS::DynamoDB::Table") {
		for property := range table {
			if !slices.Contains(knownOfTable, property) {
				t.Errorf("%s has a %s: if that lets nothing out, allow it in this test", name, property)
			}
		}
	}
}

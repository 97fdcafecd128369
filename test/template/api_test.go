package template

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/gateway"
)

// TestRoutes checks that the API has the routes of openapi.yaml, and that the authorizer
// runs for every request: each request has a route key, and no verdict is cached.
func TestRoutes(t *testing.T) {
	type api struct {
		Body struct {
			Paths      map[string]map[string]struct{ Security []map[string][]string }
			Components struct {
				SecuritySchemes map[string]struct {
					Authorizer struct {
						EnableSimpleResponses        bool
						IdentitySource               []string
						AuthorizerResultTTLInSeconds *int
					} `json:"x-amazon-apigateway-authorizer"`
				}
			}
		}
	}
	var contract struct {
		Paths map[string]map[string]any
	}
	if err := yaml.Unmarshal([]byte(read(t, "openapi.yaml")), &contract); err != nil {
		t.Fatal(err)
	}
	body := properties[api](t, production(t), "AWS::ApiGatewayV2::Api")["HttpApi"].Body
	for path, methods := range contract.Paths {
		for method := range methods {
			if method == "parameters" {
				continue // of all methods of the path
			}
			route, ok := body.Paths[path][method]
			if !ok || len(route.Security) != 1 {
				t.Errorf("%s %s: in the API = %t, with %v, want one authorizer: see the function's Events in template.yaml", method, path, ok, route.Security)
				continue
			}
			for name := range route.Security[0] {
				a := body.Components.SecuritySchemes[name].Authorizer
				if !slices.Equal(a.IdentitySource, []string{"$context.routeKey"}) || a.AuthorizerResultTTLInSeconds == nil ||
					*a.AuthorizerResultTTLInSeconds != 0 || !a.EnableSimpleResponses {
					t.Errorf("%s %s has the authorizer %+v, want it to run for every request", method, path, a)
				}
			}
		}
	}
	for path, methods := range body.Paths {
		for method := range methods {
			if contract.Paths[path][method] == nil {
				t.Errorf("the API has %s %s, which is not in openapi.yaml", method, path)
			}
		}
	}
}

// TestDoors allows only what lets nobody in past the authorizer: no function URL, no
// permission for another service, no policy of a table.
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
	}
	type permission struct {
		Principal string
		SourceArn any
	}
	for name, p := range properties[permission](t, s, "AWS::Lambda::Permission") {
		if p.Principal != "apigateway.amazonaws.com" || !references(p.SourceArn)["HttpApi"] {
			t.Errorf("%s lets %s in from %v, want the API alone", name, p.Principal, p.SourceArn)
		}
	}
	for name, table := range properties[map[string]any](t, s, "AWS::DynamoDB::Table") {
		if table["ResourcePolicy"] != nil || table["StreamSpecification"] != nil {
			t.Errorf("%s has a policy or a stream", name)
		}
	}
}

// TestAccessLog checks that a client chooses nothing in the access log: its fields
// contain no header, path, query or address.
func TestAccessLog(t *testing.T) {
	type stage struct {
		AccessLogSettings struct{ Format string }
	}
	var fields map[string]string
	format := properties[stage](t, production(t), "AWS::ApiGatewayV2::Stage")["HttpApiApiGatewayDefaultStage"].AccessLogSettings.Format
	if err := json.Unmarshal([]byte(format), &fields); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	for name, variable := range fields {
		switch strings.Split(strings.TrimPrefix(variable, "$context."), ".")[0] {
		case "requestId", "requestTimeEpoch", "routeKey", "status", "error", "authorizer", "integration", "responseLatency":
		default:
			t.Errorf("the access log has %s as %s", variable, name)
		}
	}
}

// TestCORS checks that pages may use the methods of the routes, and that the API answers
// a page as internal/gateway does.
func TestCORS(t *testing.T) {
	type api struct {
		Body struct {
			Paths map[string]map[string]any
			CORS  map[string][]json.RawMessage `json:"x-amazon-apigateway-cors"`
		}
	}
	var onAWS struct {
		AllowMethods, AllowHeaders, ExposeHeaders []string
		MaxAge                                    int
	}
	body := properties[api](t, production(t), "AWS::ApiGatewayV2::Api")["HttpApi"].Body
	if err := json.Unmarshal(body.CORS["Fn::If"][1], &onAWS); err != nil {
		t.Fatal(err)
	}
	for path, methods := range body.Paths {
		for method := range methods {
			if !slices.Contains(onAWS.AllowMethods, strings.ToUpper(method)) {
				t.Errorf("pages may not use %s %s", method, path)
			}
		}
	}
	local := &gateway.Gateway{AllowOrigins: []string{"*"}, NewID: func() string { return "id" }}
	preflight := httptest.NewRequest(http.MethodOptions, "/plants", nil)
	preflight.Header.Set("Origin", "https://www.example.com")
	preflight.Header.Set("Access-Control-Request-Method", "POST")
	answer := httptest.NewRecorder()
	local.ServeHTTP(answer, preflight)
	for header, want := range map[string]string{
		"Access-Control-Allow-Headers":  strings.Join(onAWS.AllowHeaders, ","),
		"Access-Control-Expose-Headers": strings.Join(onAWS.ExposeHeaders, ","),
		"Access-Control-Max-Age":        strconv.Itoa(onAWS.MaxAge),
	} {
		if got := answer.Header().Get(header); got != want {
			t.Errorf("%s is %q, on AWS %q", header, got, want)
		}
	}
}

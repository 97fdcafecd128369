package deployment

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// A gate is what stands between a request and a function: the routes of an API, its authorizers, and the functions that
// have the alias live.
type gate struct {
	Routes      map[string]route
	Authorizers map[string]authorizer
	Live        []string
}

type route struct{ Authorizer, Function string }

type authorizer struct {
	Function       string
	IdentitySource []string
	Cached         int // in seconds
	SimpleResponse bool
}

// checkGate checks that a stack has the gate of SAM's translation of template.yaml, and that nobody gets in without a token.
// An emulator may deploy a stack without its gate.
func (local localAWS) checkGate(t *testing.T, stack string) {
	t.Helper()
	got, want := local.deployedGate(t, stack), local.translatedGate(t)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s has the gate %+v, want that of the translated template, %+v", stack, got, want)
	}
	url := local.outputs(t, stack)["Url"]
	if !strings.HasPrefix(url, "http://127.0.0.1:"+local.port+"/") {
		t.Fatalf("the address of %s is %s, want one of the local AWS", stack, url)
	}
	for key := range want.Routes {
		method, path, _ := strings.Cut(key, " ")
		if answer := ask(t, method, url+path, "", `{"id":1,"name":"fern"}`); !strings.HasPrefix(answer, `400 {"error":2001,`) {
			t.Errorf("%s without a token = %s, want 400 and error 2001", key, answer)
		}
		if answer := ask(t, method, url+path, "Bearer unknown", `{"id":1,"name":"fern"}`); !strings.HasPrefix(answer, `400 {"error":2003,`) {
			t.Errorf("%s with an unknown token = %s, want 400 and error 2003", key, answer)
		}
	}
}

// translatedGate returns the gate in SAM's translation of the copied template.yaml.
func (local localAWS) translatedGate(t *testing.T) gate {
	t.Helper()
	var stacks []struct {
		Resources map[string]struct {
			Type       string
			Properties json.RawMessage
		}
	}
	local.decode(t, &stacks, "sh", "-c", `echo '[{}]' | python3 test/template/stacks.py`)
	resources := stacks[0].Resources
	// function returns the function whose alias live a URI of the translation names.
	function := func(uri json.RawMessage) string {
		for name := range resources {
			if strings.Contains(string(uri), "${"+name+"Aliaslive}") || strings.Contains(string(uri), "${"+name+".Arn}:live") {
				return name
			}
		}
		return ""
	}
	found := gate{Routes: map[string]route{}, Authorizers: map[string]authorizer{}}
	for _, resource := range resources {
		switch resource.Type {
		case "AWS::Lambda::Alias":
			var alias struct{ FunctionName struct{ Ref string } }
			decode(t, resource.Properties, &alias)
			found.Live = append(found.Live, alias.FunctionName.Ref)
		case "AWS::ApiGatewayV2::Api":
			var api struct{ Body openAPI }
			decode(t, resource.Properties, &api)
			for name, scheme := range api.Body.Components.SecuritySchemes {
				a := scheme.Authorizer
				found.Authorizers[name] = authorizer{
					Function:       function(a.AuthorizerURI),
					IdentitySource: a.IdentitySource,
					Cached:         a.AuthorizerResultTTLInSeconds,
					SimpleResponse: a.EnableSimpleResponses,
				}
			}
			for path, methods := range api.Body.Paths {
				for method, operation := range methods {
					r := route{Function: function(operation.Integration.URI)}
					for _, requirement := range operation.Security {
						r.Authorizer = slices.Collect(maps.Keys(requirement))[0]
					}
					found.Routes[strings.ToUpper(method)+" "+path] = r
				}
			}
		}
	}
	slices.Sort(found.Live)
	return found
}

// An openAPI is the definition of an API as SAM writes it.
type openAPI struct {
	Paths map[string]map[string]struct {
		Security    []map[string][]string
		Integration struct{ URI json.RawMessage } `json:"x-amazon-apigateway-integration"`
	}
	Components struct {
		SecuritySchemes map[string]struct {
			Authorizer struct {
				AuthorizerURI                json.RawMessage
				IdentitySource               []string
				AuthorizerResultTTLInSeconds int
				EnableSimpleResponses        bool
			} `json:"x-amazon-apigateway-authorizer"`
		}
	}
}

func decode(t *testing.T, text json.RawMessage, into any) {
	t.Helper()
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

// deployedGate returns the gate of a stack as Lambda and API Gateway describe it.
func (local localAWS) deployedGate(t *testing.T, stack string) gate {
	t.Helper()
	resources := local.resources(t, stack)
	// function returns the function whose alias live a URI names.
	function := func(uri string) string {
		for name, id := range resources {
			if strings.Contains(uri, ":function:"+id+":live/") {
				return name
			}
		}
		return ""
	}
	found := gate{Routes: map[string]route{}, Authorizers: map[string]authorizer{}}
	for name, id := range resources {
		if strings.HasSuffix(name, "Function") && local.live(t, id).Version != "$LATEST" {
			found.Live = append(found.Live, name)
		}
	}
	slices.Sort(found.Live)
	var authorizers struct {
		Items []struct {
			AuthorizerId, Name, AuthorizerUri string //nolint:revive,staticcheck // AWS's names
			IdentitySource                    []string
			AuthorizerResultTTLInSeconds      int
			EnableSimpleResponses             bool
		}
	}
	local.aws(t, &authorizers, "apigatewayv2", "get-authorizers", "--api-id", resources["HttpApi"])
	names := map[string]string{}
	for _, a := range authorizers.Items {
		names[a.AuthorizerId] = a.Name
		found.Authorizers[a.Name] = authorizer{
			Function:       function(a.AuthorizerUri),
			IdentitySource: a.IdentitySource,
			Cached:         a.AuthorizerResultTTLInSeconds,
			SimpleResponse: a.EnableSimpleResponses,
		}
	}
	var integrations struct {
		Items []struct{ IntegrationId, IntegrationUri string } //nolint:revive,staticcheck // AWS's names
	}
	local.aws(t, &integrations, "apigatewayv2", "get-integrations", "--api-id", resources["HttpApi"])
	functions := map[string]string{}
	for _, i := range integrations.Items {
		functions["integrations/"+i.IntegrationId] = function(i.IntegrationUri)
	}
	var routes struct {
		Items []struct{ RouteKey, Target, AuthorizationType, AuthorizerId string } //nolint:revive,staticcheck // AWS's names
	}
	local.aws(t, &routes, "apigatewayv2", "get-routes", "--api-id", resources["HttpApi"])
	for _, r := range routes.Items {
		entry := route{Function: functions[r.Target]}
		if r.AuthorizationType == "CUSTOM" { // a Lambda authorizer
			entry.Authorizer = names[r.AuthorizerId]
		}
		found.Routes[r.RouteKey] = entry
	}
	return found
}

// A configuration is what a function's alias live runs.
type configuration struct {
	Version    string
	MemorySize int
}

func (local localAWS) live(t *testing.T, function string) (live configuration) {
	t.Helper()
	local.aws(t, &live, "lambda", "get-function-configuration", "--function-name", function, "--qualifier", "live")
	return live
}

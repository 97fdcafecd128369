package plantstore

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// What of template.yaml the service depends on and no linter knows.
func TestTemplate(t *testing.T) {
	content, err := os.ReadFile("template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template map[string]any
	if err := yaml.Unmarshal(content, &template); err != nil {
		t.Fatal(err)
	}
	const (
		resources  = "Resources."
		authorizer = resources + "HttpApi.Properties.Auth.Authorizers.TokenAuthorizer."
	)
	tests := []struct {
		why, path, want string
	}{
		{"every route has the authorizer", resources + "HttpApi.Properties.Auth.DefaultAuthorizer", "TokenAuthorizer"},
		{"a revoked token is refused at once", authorizer + "Identity.ReauthorizeEvery", "0"},
		{"the authorizer runs without an Authorization header too", authorizer + "Identity.Context", "[routeKey]"},
		{"the authorizer answers with a context", authorizer + "EnableSimpleResponses", "true"},
		{"the handlers read payload format 2.0", authorizer + "AuthorizerPayloadFormatVersion", "2.0"},
		{"API Gateway may call the authorizer", authorizer + "EnableFunctionDefaultPermissions", "true"},
		{"the handlers read payload format 2.0 here too", resources + "CreatePlantFunction.Properties.Events.CreatePlant.Properties.PayloadFormatVersion", "2.0"},
		{"the only route", resources + "CreatePlantFunction.Properties.Events.CreatePlant.Properties.Path", "/plants"},
		{"the only method", resources + "CreatePlantFunction.Properties.Events.CreatePlant.Properties.Method", "POST"},
		{"createplant's deadline, as in package gateway", resources + "CreatePlantFunction.Properties.Timeout", "10"},
		{"the authorizer's deadline, as in package gateway", resources + "AuthorizerFunction.Properties.Timeout", "5"},
		{"createplant's table", resources + "CreatePlantFunction.Properties.Environment.Variables.PLANTS_TABLE", "PlantsTable"},
		{"the authorizer's table", resources + "AuthorizerFunction.Properties.Environment.Variables.TOKENS_TABLE", "TokensTable"},
		{"`sam local` can set the endpoint", "Globals.Function.Environment.Variables.AWS_ENDPOINT_URL_DYNAMODB", ""},
		{"createplant may put and nothing else", resources + "CreatePlantFunction.Properties.Policies", "[map[Statement:[map[Action:dynamodb:PutItem Effect:Allow Resource:PlantsTable.Arn]] Version:2012-10-17]]"},
		{"the authorizer may get and nothing else", resources + "AuthorizerFunction.Properties.Policies", "[map[Statement:[map[Action:dynamodb:GetItem Effect:Allow Resource:TokensTable.Arn]] Version:2012-10-17]]"},
		{"expired tokens are removed", resources + "TokensTable.Properties.TimeToLiveSpecification.AttributeName", "expires_at"},
	}
	for _, test := range tests {
		if got := fmt.Sprint(at(template, test.path)); got != test.want {
			t.Errorf("%s: %s = %s, want %s", test.why, test.path, got, test.want)
		}
	}
}

// at returns the value at a path of names.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		parent, _ := value.(map[string]any)
		value = parent[name]
	}
	return value
}

// README.md names no target that the Makefile lacks, and no file that is not there.
func TestReadmeIsTrue(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := regexp.MustCompile("(?:`|\n)make ([a-z-]+)").FindAllStringSubmatch(string(readme), -1)
	links := regexp.MustCompile(`\]\(([^):#]+)\)`).FindAllStringSubmatch(string(readme), -1)
	if len(targets) < 5 || len(links) < 5 {
		t.Fatalf("README.md has %d targets and %d links, want more", len(targets), len(links))
	}
	for _, target := range targets {
		if !strings.Contains(string(makefile), "\n"+target[1]+":") {
			t.Errorf("README.md names make %s, which the Makefile lacks", target[1])
		}
	}
	for _, link := range links {
		if _, err := os.Stat(link[1]); err != nil {
			t.Errorf("README.md links to %s: %v", link[1], err)
		}
	}
}

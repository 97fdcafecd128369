package contract

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/plant"
	"plantstore/test/openapitest"
	"plantstore/test/processtest"
)

// openapi.yaml has each value of testdata/specification.yaml, and no other member where these are listed.
func TestSpecification(t *testing.T) {
	content, err := os.ReadFile("testdata/specification.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var specification struct {
		Values  map[string]any
		Members map[string][]string
	}
	if err := yaml.Unmarshal(content, &specification); err != nil {
		t.Fatal(err)
	}
	for path, want := range specification.Values {
		if got := openapitest.At(strings.Split(path, ".")...); !reflect.DeepEqual(got, want) {
			t.Errorf("openapi.yaml: %s = %v, want %v", path, got, want)
		}
	}
	for path, want := range specification.Members {
		members := openapitest.Names(openapitest.At(strings.Split(path, ".")...))
		if !slices.Equal(members, want) {
			t.Errorf("openapi.yaml: %s has the members %q, want %q", path, members, want)
		}
	}
}

// The cases have requests for the routes of openapi.yaml, with each status of its answers, and no other. No
// request can make the service fail, so a status from 500 on has no case: internal/api tests these.
func TestCases(t *testing.T) {
	routes := http.NewServeMux()
	var documented, tried []string // routes with a status
	for _, path := range openapitest.Names(openapitest.At("paths")) {
		for _, method := range openapitest.Names(openapitest.At("paths", path)) {
			route := strings.ToUpper(method) + " " + path
			routes.Handle(route, http.NotFoundHandler())
			for _, status := range openapitest.Names(openapitest.At("paths", path, method, "responses")) {
				if !strings.HasPrefix(status, "5") {
					documented = append(documented, route+" "+status)
				}
			}
		}
	}
	for _, c := range slices.Concat(cases(), probes()) {
		for _, s := range c.steps {
			_, route := routes.Handler(httptest.NewRequest(s.method, s.path, nil))
			tried = append(tried, fmt.Sprint(route, " ", s.want.status))
		}
	}
	slices.Sort(documented)
	slices.Sort(tried)
	tried = slices.Compact(tried)
	if !slices.Equal(documented, tried) {
		t.Errorf("openapi.yaml has the statuses %q, and the cases have %q", documented, tried)
	}
}

// The type of a NewPlant has exactly the members of its schema in openapi.yaml. It has
// those of a Plant and the id.
func TestMembers(t *testing.T) {
	var got []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[plant.NewPlant]()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.Anonymous {
			got = append(got, name)
		}
	}
	slices.Sort(got)
	if want := openapitest.Members("NewPlant"); !slices.Equal(got, want) {
		t.Errorf("internal/plant/plant.go: a NewPlant has the members %q, and in openapi.yaml %q", got, want)
	}
}

// schemathesis finds no request that gets an answer other than openapi.yaml says. Three of its checks
// are excluded, because they require 401 or 405 where specification.yaml requires 400 and API Gateway
// answers 404. TestContract checks that a token is required, and internal/gateway that no other method has
// an answer.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("st"); err != nil {
		processtest.SkipWithout(t, "schemathesis: see CONTRIBUTING.md, Tools")
	}
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"))
	command := exec.CommandContext(t.Context(), "st", "run", "openapi.yaml", "--url", server.URL,
		"--header", "Authorization: Bearer "+server.Token,
		"--exclude-checks", "unsupported_method,ignored_auth,missing_required_header",
		"--max-examples", "100", "--seed", "1", "--no-color")
	command.Dir = "../.."
	command.Env = append(os.Environ(),
		"SCHEMATHESIS_HOOKS=hooks", "PYTHONPATH=test/contract/schemathesis", "PYTHONDONTWRITEBYTECODE=1")
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "No issues found") {
		t.Errorf("schemathesis ended with %v and printed\n%s", err, out)
	}
}

package contract

import (
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/api"
	"plantstore/internal/plant"
	"plantstore/test/openapitest"
	"plantstore/test/processtest"
)

// compare fails the test if one of two lists lacks an element of the other.
func compare(t *testing.T, what string, got []string, standard string, want []string) {
	t.Helper()
	for _, element := range want {
		if !slices.Contains(got, element) {
			t.Errorf("%s lacks %q, which %s has", what, element, standard)
		}
	}
	for _, element := range got {
		if !slices.Contains(want, element) {
			t.Errorf("%s has %q, which %s lacks", what, element, standard)
		}
	}
}

// openapi.yaml has each value of the specification, and no other path, method or status.
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
		compare(t, "openapi.yaml: "+path, members, "testdata/specification.yaml", want)
	}
}

// The service has exactly the routes of openapi.yaml.
func TestRoutes(t *testing.T) {
	compare(t, "the table of operations in internal/api/service.go", api.Routes(), "openapi.yaml", documentedRoutes())
}

// The types in internal/plant/plant.go have exactly the members of their schemas in openapi.yaml.
func TestMembers(t *testing.T) {
	for schema, of := range map[string]reflect.Type{
		"Plant": reflect.TypeFor[plant.Plant](), "NewPlant": reflect.TypeFor[plant.NewPlant](),
	} {
		var got []string
		for _, field := range reflect.VisibleFields(of) {
			name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			if !field.Anonymous {
				got = append(got, name)
			}
		}
		compare(t, "plant."+schema+" in internal/plant/plant.go", got, "openapi.yaml", openapitest.Members(schema))
	}
}

// README.md, "For clients", names each member of a NewPlant.
func TestReadmeNamesMembers(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range openapitest.Members("NewPlant") {
		if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("README.md, For clients, does not name the member `%s`", name)
		}
	}
}

// Each answer in openapi.yaml has the id of the request, and an Error what a retry needs.
func TestHeaders(t *testing.T) {
	for _, route := range documentedRoutes() {
		for _, status := range openapitest.Names(operation(route, "responses")) {
			want := []string{"Apigw-Requestid"}
			if status == "400" {
				want = append(want, "Retry-After")
			}
			if _, hasKey := parameters(route)[idempotencyKey]; hasKey && status == "400" {
				want = append(want, idempotencyKey)
			}
			got := openapitest.Names(operation(route, "responses", status, "headers"))
			for _, header := range want {
				if !slices.Contains(got, header) {
					t.Errorf("openapi.yaml: %s, answer %s, has the headers %q, want %s too", route, status, got, header)
				}
			}
		}
	}
}

// Each case has a name of its own, and every error that a client can cause has a case.
func TestCases(t *testing.T) {
	hasCase := map[int]bool{}
	hasName := map[string]bool{}
	for _, c := range cases() {
		if c.name == "" || hasName[c.name] {
			t.Errorf("two cases have the name %q", c.name)
		}
		hasName[c.name] = true
		for _, s := range c.steps {
			hasCase[s.want.code] = true
		}
	}
	for code := range errorMessages() {
		if code < 5000 && !hasCase[code] { // internal/api tests the others
			t.Errorf("no case wants the error %d: add one to test/contract/cases_test.go", code)
		}
	}
}

// Each route of openapi.yaml has a case that gets 200. If it has an Idempotency-Key, a case repeats a request with one.
func TestRoutesHaveCases(t *testing.T) {
	contract := loadContract(t)
	succeeds, repeats := map[string]bool{}, map[string]bool{}
	for _, c := range cases() {
		for i, s := range c.steps {
			if !s.want.isSuccess() {
				continue
			}
			route := contract.route(s.method, s.path)
			succeeds[route] = true
			again := slices.ContainsFunc(c.steps[:i], func(before step) bool { return reflect.DeepEqual(before, s) })
			repeats[route] = repeats[route] || again && s.header[idempotencyKey] != nil
		}
	}
	for _, route := range documentedRoutes() {
		if !succeeds[route] {
			t.Errorf("no case of %s gets 200: add one to test/contract/plants_test.go", route)
		}
		if _, hasKey := parameters(route)[idempotencyKey]; hasKey && !repeats[route] {
			t.Errorf("no case of %s repeats a request with its Idempotency-Key: add one to test/contract/plants_test.go", route)
		}
	}
}

// A request that gets 200 has no header but those of every request and the parameters of its route, and each parameter
// that is required.
func TestParameters(t *testing.T) {
	contract := loadContract(t)
	for _, c := range cases() {
		for _, s := range c.steps {
			if !s.want.isSuccess() {
				continue
			}
			route := contract.route(s.method, s.path)
			for name := range s.header {
				if _, documented := parameters(route)[name]; !documented && name != "Authorization" && name != "Content-Type" {
					t.Errorf("the case %q sends the header %s, which is no parameter of %s in openapi.yaml", c.name, name, route)
				}
			}
			for name, required := range parameters(route) {
				if required && s.header[name] == nil {
					t.Errorf("the case %q gets 200 without the header %s, which openapi.yaml requires", c.name, name)
				}
			}
		}
	}
}

// schemathesis finds no request that gets an answer other than openapi.yaml says.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("st"); err != nil {
		processtest.Lacks(t, "schemathesis: pip install -r tools/requirements/schemathesis.txt")
	}
	command := exec.CommandContext(t.Context(), "schemathesis/run")
	command.Env = append(os.Environ(), "BINARY="+processtest.Build(t, "cmd/plantstore"), "EXAMPLES=100")
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "No issues found") {
		t.Errorf("schemathesis ended with %v and printed\n%s", err, out)
	}
}

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
		if got := at(document(), strings.Split(path, ".")...); !reflect.DeepEqual(got, want) {
			t.Errorf("openapi.yaml: %s = %v, want %v", path, got, want)
		}
	}
	for path, want := range specification.Members {
		members := at(document(), strings.Split(path, ".")...)
		compare(t, "openapi.yaml: "+path, names(members), "testdata/specification.yaml", want)
	}
}

// Idempotency-Key, which the specification does not have, is the only parameter. It may be left out.
func TestParameters(t *testing.T) {
	parameters, _ := at(document(), "paths", "/plants", "post", "parameters").([]any)
	if len(parameters) != 1 {
		t.Fatalf("POST /plants has the parameters %v, want one", parameters)
	}
	if name := at(parameters[0], "name"); name != "Idempotency-Key" {
		t.Errorf("POST /plants has the parameter %v, want Idempotency-Key", name)
	}
	if at(parameters[0], "required") == true {
		t.Error("the parameter of POST /plants is required")
	}
}

// The service has exactly the routes of openapi.yaml.
func TestRoutes(t *testing.T) {
	compare(t, "the table of operations in internal/api/service.go", api.Routes(), "openapi.yaml", documentedRoutes())
}

// The types in internal/plant/plant.go have exactly the members of their schemas in openapi.yaml.
func TestMembers(t *testing.T) {
	tests := []struct {
		schema string
		of     reflect.Type
	}{
		{"Plant", reflect.TypeFor[plant.Plant]()},
		{"NewPlant", reflect.TypeFor[plant.NewPlant]()},
	}
	for _, test := range tests {
		t.Run(test.schema, func(t *testing.T) {
			var got []string
			for _, field := range reflect.VisibleFields(test.of) {
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				if !field.Anonymous {
					got = append(got, name)
				}
			}
			want := names(at(document(), "components", "schemas", test.schema, "properties"))
			compare(t, "plant."+test.schema+" in internal/plant/plant.go", got, "openapi.yaml", want)
		})
	}
}

// README.md, "For clients", names each member of a NewPlant.
func TestReadmeNamesMembers(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names(at(document(), "components", "schemas", "NewPlant", "properties")) {
		if !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("README.md, For clients, does not name the member `%s`", name)
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
	for code := range loadContract(t).messages {
		if code < 5000 && !hasCase[code] { // internal/api tests the others
			t.Errorf("no case wants the error %d: add one to test/contract/cases_test.go", code)
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

package contract

import (
	"cmp"
	"maps"
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/internal/plant"
	"plantstore/test/processtest"
)

// openapi.yaml has each value of the specification, and no other path, method or status.
func TestSpecification(t *testing.T) {
	var specification map[string]any
	content, err := os.ReadFile("testdata/specification.yaml")
	if err = cmp.Or(err, yaml.Unmarshal(content, &specification)); err != nil {
		t.Fatal(err)
	}
	for path, want := range specification {
		if got := at(document(), path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
	}
	// The specification has no parameters, so none may be required.
	parameters, _ := at(document(), "paths./plants.post.parameters").([]any)
	if len(parameters) != 1 || at(parameters[0], "required") != false || at(parameters[0], "name") != "Idempotency-Key" {
		t.Errorf("the parameters are %v, want Idempotency-Key alone, not required", parameters)
	}
}

// plant.NewPlant has the members of openapi.yaml, and plant.Plant those of the answer. README.md names each.
func TestMembers(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	for _, name := range membersOfType("") {
		if err != nil || !strings.Contains(string(readme), "`"+name+"`") {
			t.Errorf("README.md, Use, does not name the member `%s` (%v)", name, err)
		}
	}
	for schema, of := range map[string]reflect.Type{
		"Plant": reflect.TypeFor[plant.Plant](), "NewPlant": reflect.TypeFor[plant.NewPlant](),
	} {
		got := map[string]bool{}
		for _, field := range reflect.VisibleFields(of) {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); !field.Anonymous {
				got[name] = true
			}
		}
		want, _ := at(document(), "components.schemas."+schema+".properties").(map[string]any)
		if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))) {
			t.Errorf("plant.%s has the members %v, openapi.yaml has %v: change internal/plant/plant.go", schema, got, want)
		}
	}
}

// Every error that a client can cause has a case.
func TestEveryCodeHasACase(t *testing.T) {
	wanted := map[int]bool{}
	for _, c := range conversations() {
		for _, s := range c.steps {
			for _, code := range s.want.codes {
				wanted[code] = true
			}
		}
	}
	for code := range loadContract(t).messages {
		if code < 5000 && !wanted[code] { // internal/api tests the others
			t.Errorf("no case wants the error %d: add one to test/contract/cases_test.go", code)
		}
	}
}

// schemathesis finds no request that gets an answer other than openapi.yaml says.
func TestSchemathesis(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("st"); err != nil {
		processtest.Lacks(t, "schemathesis: pip install -r tools/schemathesis.txt")
	}
	command := exec.CommandContext(t.Context(), "../../tools/schemathesis")
	command.Env = append(os.Environ(), "BINARY="+processtest.Build(t, "cmd/plantstore"))
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "No issues found") {
		t.Errorf("schemathesis ended with %v and printed\n%s", err, out)
	}
}

// at returns the value at a path of names, and the sorted names of its members for a path that ends in *.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		parent, _ := value.(map[string]any)
		value = parent[name]
		if name == "*" {
			names := []any{}
			for _, name := range slices.Sorted(maps.Keys(parent)) {
				names = append(names, name)
			}
			return names
		}
	}
	return value
}

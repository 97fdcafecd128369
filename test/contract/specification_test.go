package contract

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore"
	"plantstore/internal/plant"
)

// openapi.yaml has each value of testdata/specification.yaml, and no other member where these are listed. The type
// of a NewPlant has the members of its schema.
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
		if got := at(t, path); !reflect.DeepEqual(got, want) {
			t.Errorf("openapi.yaml: %s = %v, want %v", path, got, want)
		}
	}
	specification.Members["components.schemas.NewPlant.properties"] = members(reflect.TypeFor[plant.NewPlant]())
	for path, want := range specification.Members {
		object, _ := at(t, path).(map[string]any)
		if got := slices.Sorted(maps.Keys(object)); !slices.Equal(got, want) {
			t.Errorf("openapi.yaml: %s has the members %q, want %q", path, got, want)
		}
	}
}

// at returns what a path leads to in openapi.yaml, or nil.
func at(t *testing.T, path string) (value any) {
	t.Helper()
	if err := yaml.Unmarshal(plantstore.OpenAPI, &value); err != nil {
		t.Fatal(err)
	}
	for name := range strings.SplitSeq(path, ".") {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// members returns the names that the fields of a type have in JSON, sorted.
func members(of reflect.Type) (names []string) {
	for _, field := range reflect.VisibleFields(of) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !field.Anonymous {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

package contract

import (
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// openapi.yaml offers what the specification does: each value of the golden file,
// and no other path, method, status or member.
func TestSpecification(t *testing.T) {
	document := load(t, "../../openapi.yaml")
	for path, want := range load(t, "testdata/specification.yaml") {
		if got := at(document, path); !reflect.DeepEqual(got, want) {
			t.Errorf("%s = %v, want %v", path, got, want)
		}
	}
	for path, want := range map[string][]string{
		"paths":                                    {"/plants"},
		"paths./plants":                            {"post"},
		"paths./plants.post.responses":             {"200", "400"},
		"paths./plants.post.requestBody.content":   {"application/json"},
		"paths./plants.post.responses.200":         {"content", "description"},
		"paths./plants.post.responses.200.content": {"application/json"},
		"paths./plants.post.responses.400":         {"content", "description", "headers"},
		"paths./plants.post.responses.400.content": {"application/json"},
		"paths./plants.post.responses.400.headers": {"Idempotency-Key", "Retry-After"},
		"paths./plants.post":                       {"description", "operationId", "parameters", "requestBody", "responses", "summary"},
		"components.schemas.Plant.properties":      {"name", "tag"},
		"components.schemas.NewPlant.properties":   {"id", "name", "tag"},
		"components.schemas.Error.properties":      {"error", "message"},
	} {
		members, _ := at(document, path).(map[string]any)
		if got := slices.Sorted(maps.Keys(members)); !slices.Equal(got, want) {
			t.Errorf("%s holds %v, want %v", path, got, want)
		}
	}
	// The specification has no parameters, so none may be required.
	parameters, _ := at(document, "paths./plants.post.parameters").([]any)
	for _, parameter := range parameters {
		if at(parameter, "required") != false {
			t.Errorf("parameter %v is required", at(parameter, "name"))
		}
	}
	if len(parameters) != 1 {
		t.Errorf("there are %d parameters, want Idempotency-Key alone", len(parameters))
	}
}

func load(t *testing.T, path string) (document map[string]any) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	return document
}

// at returns the value at a path of names.
func at(value any, path string) any {
	for name := range strings.SplitSeq(path, ".") {
		parent, _ := value.(map[string]any)
		value = parent[name]
	}
	return value
}

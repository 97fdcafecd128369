package contract

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	openapi "plantstore"
)

// contract is what openapi.yaml says of each operation and of the errors.
type contract struct {
	operations map[string]operation // by route, such as "POST /plants" or "GET /plants/{id}"
	router     *http.ServeMux       // finds the route of a request
	messages   map[int]string       // by the code of the Error
}

// operation has the schemas of an operation's JSON.
type operation struct {
	body    *jsonschema.Schema         // of the request, nil if it has none
	answers map[int]*jsonschema.Schema // by status
}

// operationOf returns the operation that a request is for. One that is not in openapi.yaml has no answers.
func (c contract) operationOf(method, path string) operation {
	_, route := c.router.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
	return c.operations[route]
}

func loadContract(t testing.TB) contract {
	t.Helper()
	compiler := jsonschema.NewCompiler()
	const resource = "file:///openapi.yaml" // a relative name fails in a folder with a space
	if err := compiler.AddResource(resource, document()); err != nil {
		t.Fatal(err)
	}
	schemaAt := func(names ...string) *jsonschema.Schema {
		if at(document(), names...) == nil {
			return nil
		}
		for i, name := range names {
			names[i] = url.PathEscape(strings.ReplaceAll(name, "/", "~1"))
		}
		schema, err := compiler.Compile(resource + "#/" + strings.Join(names, "/"))
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	c := contract{operations: map[string]operation{}, router: http.NewServeMux(), messages: errorMessages()}
	for _, route := range documentedRoutes() {
		method, path, _ := strings.Cut(route, " ")
		method = strings.ToLower(method)
		o := operation{
			body:    schemaAt("paths", path, method, "requestBody", "content", "application/json", "schema"),
			answers: map[int]*jsonschema.Schema{},
		}
		for _, status := range names(at(document(), "paths", path, method, "responses")) {
			number, err := strconv.Atoi(status)
			if err != nil {
				t.Fatal(err)
			}
			o.answers[number] = schemaAt("paths", path, method, "responses", status, "content", "application/json", "schema")
		}
		c.operations[route] = o
		c.router.Handle(route, http.NotFoundHandler())
	}
	return c
}

// errorMessages returns the message of each code in the table of openapi.yaml.
func errorMessages() map[int]string {
	messages := map[int]string{}
	description, _ := at(document(), "components", "schemas", "Error", "properties", "error", "description").(string)
	for line := range strings.Lines(description) {
		cells := strings.Split(line, "|") // nothing, the code, the message, nothing
		if len(cells) != 4 {
			continue
		}
		code, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		if err == nil {
			messages[code] = strings.TrimSpace(cells[2])
		}
	}
	return messages
}

// documentedRoutes returns the routes of openapi.yaml, such as "POST /plants", sorted.
func documentedRoutes() []string {
	var routes []string
	for _, path := range names(at(document(), "paths")) {
		for _, method := range []string{"delete", "get", "patch", "post", "put"} {
			if at(document(), "paths", path, method) != nil {
				routes = append(routes, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(routes)
	return routes
}

// textMembers returns the names of those members of a NewPlant in openapi.yaml that are strings, sorted.
func textMembers() []string {
	properties := at(document(), "components", "schemas", "NewPlant", "properties")
	return slices.DeleteFunc(names(properties), func(name string) bool { return at(properties, name, "type") != "string" })
}

// document returns openapi.yaml.
func document() (parsed map[string]any) {
	if err := yaml.Unmarshal(openapi.YAML, &parsed); err != nil {
		panic(err)
	}
	return parsed
}

// at returns the member of value that path leads to, or nil.
func at(value any, path ...string) any {
	for _, name := range path {
		parent, _ := value.(map[string]any)
		value = parent[name]
	}
	return value
}

// names returns the names of an object's members, sorted.
func names(object any) []string {
	members, _ := object.(map[string]any)
	return slices.Sorted(maps.Keys(members))
}

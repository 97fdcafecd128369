package contract

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	openapi "plantstore"
	"plantstore/test/openapitest"
)

// contract is what openapi.yaml says of answers.
type contract struct {
	answers  map[string]map[int]*jsonschema.Schema // of the JSON, by route, such as "GET /plants/{id}", and status
	router   *http.ServeMux
	messages map[int]string // by the code of the Error
}

// route returns the route of openapi.yaml that a request is for, or "".
func (c contract) route(method, path string) string {
	path, _, _ = strings.Cut(path, "?")
	_, route := c.router.Handler(&http.Request{Method: method, URL: &url.URL{Path: path}})
	return route
}

func loadContract(t testing.TB) contract {
	t.Helper()
	c := contract{answers: map[string]map[int]*jsonschema.Schema{}, router: http.NewServeMux(), messages: errorMessages()}
	for _, route := range documentedRoutes() {
		c.answers[route] = map[int]*jsonschema.Schema{}
		responses := operation(route, "responses")
		for _, status := range openapitest.Names(responses) {
			number, err := strconv.Atoi(status)
			if err != nil {
				t.Fatal(err)
			}
			schema, _ := openapitest.In(responses, status, "content", "application/json", "schema", "$ref").(string)
			c.answers[route][number] = compile(t, schema)
		}
		c.router.Handle(route, http.NotFoundHandler())
	}
	return c
}

// compile returns the schema that a reference such as "#/components/schemas/Plant" leads to.
func compile(t testing.TB, reference string) *jsonschema.Schema {
	t.Helper()
	var document any
	if err := yaml.Unmarshal(openapi.YAML, &document); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	const resource = "file:///openapi.yaml" // a relative name fails in a folder with a space
	if err := compiler.AddResource(resource, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(resource + reference)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// errorMessages returns the message of each code in the table of openapi.yaml.
func errorMessages() map[int]string {
	messages := map[int]string{}
	description, _ := openapitest.At("components", "schemas", "Error", "properties", "error", "description").(string)
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
	for _, path := range openapitest.Names(openapitest.At("paths")) {
		for _, method := range []string{"delete", "get", "patch", "post", "put"} {
			if openapitest.At("paths", path, method) != nil {
				routes = append(routes, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(routes)
	return routes
}

// operation returns what openapi.yaml says of a route: the value that path leads to.
func operation(route string, path ...string) any {
	method, of, _ := strings.Cut(route, " ")
	return openapitest.At(append([]string{"paths", of, strings.ToLower(method)}, path...)...)
}

// parameters returns the parameters of a route that are in headers, with whether they are required.
func parameters(route string) map[string]bool {
	required := map[string]bool{}
	all, _ := operation(route, "parameters").([]any)
	for _, parameter := range all {
		if openapitest.In(parameter, "in") == "header" {
			name, _ := openapitest.In(parameter, "name").(string)
			required[name] = openapitest.In(parameter, "required") == true
		}
	}
	return required
}

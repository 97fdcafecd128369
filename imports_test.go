// Package plantstore has no code. Its tests hold together what is in more than
// one place of the repository: imports, template, documents.
package plantstore

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed says what each package may import besides the standard library.
func allowed() map[string][]string {
	const (
		sdk    = "github.com/aws/aws-sdk-go-v2/"
		smithy = "github.com/aws/smithy-go"
		lambda = "github.com/aws/aws-lambda-go/"
	)
	return map[string][]string{
		"plantstore/internal/plant":   {},
		"plantstore/internal/token":   {},
		"plantstore/internal/memory":  {"plantstore/internal/plant", "plantstore/internal/token"},
		"plantstore/internal/dynamo":  {"plantstore/internal/plant", "plantstore/internal/token", sdk, smithy},
		"plantstore/internal/api":     {"plantstore/internal/plant", "plantstore/internal/token"},
		"plantstore/internal/gateway": {lambda + "events"},
		"plantstore/cmd/createplant":  {"plantstore/internal/api", "plantstore/internal/dynamo", lambda + "lambda"},
		"plantstore/cmd/authorizer":   {"plantstore/internal/api", "plantstore/internal/dynamo", lambda + "lambda"},
		"plantstore/cmd/plantstore":   {"plantstore/internal/", sdk, smithy, "github.com/alecthomas/kong"},
		// Suites and helpers of tests.
		"plantstore/internal/plant/planttest":   {"plantstore/internal/plant"},
		"plantstore/internal/token/tokentest":   {"plantstore/internal/token"},
		"plantstore/internal/processtest":       {},
		"plantstore/internal/dynamo/dynamotest": {"plantstore/internal/dynamo", sdk},
		"plantstore/soak":                       {},
		"plantstore/contract":                   {},
		"plantstore/judge":                      {},
		"plantstore/reliability":                {},
		"plantstore/runtimeapi":                 {},
		// The benchmark, and what it measures the functions against.
		"plantstore/bench":          {"plantstore/runtimeapi", "go.yaml.in/yaml/"},
		"plantstore/bench/empty":    {lambda + "lambda"},
		"plantstore/bench/baseline": {sdk, lambda},
		"plantstore/events":         {"plantstore/internal/", sdk, lambda + "events"},
	}
}

type goPackage struct {
	ImportPath string
	Imports    []string
	Deps       []string
}

// list returns the packages of the module that have code.
func list(t *testing.T) []goPackage {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,GoFiles", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p struct {
			goPackage
			GoFiles []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) > 0 {
			packages = append(packages, p.goPackage)
		}
	}
	return packages
}

func TestImportDirections(t *testing.T) {
	rules := allowed()
	for _, p := range list(t) {
		rule, known := rules[p.ImportPath]
		if !known {
			t.Errorf("package %s has no rule: say here what it may import", p.ImportPath)
		}
		delete(rules, p.ImportPath)
		for _, path := range p.Imports {
			if !standard(path) && !slices.ContainsFunc(rule, func(prefix string) bool { return strings.HasPrefix(path, prefix) }) {
				t.Errorf("package %s imports %s, want only %v", p.ImportPath, path, rule)
			}
		}
	}
	for path := range rules {
		t.Errorf("package %s has a rule and does not exist", path)
	}
}

// The functions start without what they do not need: the SDK's config module
// reads files and asks services, for a quarter of the time that a start takes.
func TestFunctionsDoWithoutTheConfigModule(t *testing.T) {
	for _, p := range list(t) {
		if p.ImportPath != "plantstore/cmd/createplant" && p.ImportPath != "plantstore/cmd/authorizer" {
			continue
		}
		if slices.Contains(p.Deps, "github.com/aws/aws-sdk-go-v2/config") {
			t.Errorf("%s depends on aws-sdk-go-v2/config, want its configuration by hand", p.ImportPath)
		}
	}
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "plantstore" && !strings.Contains(first, ".")
}

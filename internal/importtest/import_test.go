package importtest

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// allowed says what each package may import besides the standard library. A path
// that ends in a slash stands for all that is below it.
func allowed() map[string][]string {
	const (
		sdk    = "github.com/aws/aws-sdk-go-v2/"
		smithy = "github.com/aws/smithy-go/"
		lambda = "github.com/aws/aws-lambda-go/"
	)
	return map[string][]string{
		"plantstore":                          {},
		"plantstore/internal/plant":           {},
		"plantstore/internal/token":           {},
		"plantstore/internal/memory":          {"plantstore/internal/plant", "plantstore/internal/token"},
		"plantstore/internal/dynamo":          {"plantstore/internal/plant", "plantstore/internal/token", sdk, smithy, "github.com/aws/smithy-go"},
		"plantstore/internal/api":             {"plantstore/internal/plant", "plantstore/internal/token"},
		"plantstore/internal/gateway":         {lambda + "events"},
		"plantstore/internal/page":            {"github.com/swaggest/swgui/v5/static"},
		"plantstore/cmd/createplant":          {"plantstore/cmd/internal/", "plantstore/internal/api", "plantstore/internal/dynamo", lambda + "lambda"},
		"plantstore/cmd/authorizer":           {"plantstore/cmd/internal/", "plantstore/internal/api", "plantstore/internal/dynamo", "plantstore/internal/token", lambda + "lambda"},
		"plantstore/cmd/internal/environment": {"plantstore/internal/dynamo", sdk},
		"plantstore/cmd/plantstore":           {"plantstore", "plantstore/cmd/internal/", "plantstore/internal/", sdk, smithy, "github.com/aws/smithy-go", "github.com/alecthomas/kong"},
		"plantstore/examples":                 {},
		"plantstore/examples/go":              {},
		// Suites and helpers of tests.
		"plantstore/test/storetest":   {"plantstore/internal/plant", "plantstore/internal/token"},
		"plantstore/test/processtest": {"plantstore/internal/token"},
		"plantstore/test/dynamotest":  {"plantstore/internal/dynamo", sdk},
		"plantstore/test/contract":    {},
		"plantstore/test/faults":      {},
		"plantstore/test/runtimeapi":  {},
		// The benchmark, and what it measures the functions against.
		"plantstore/tools/bench":          {"plantstore/test/runtimeapi", "go.yaml.in/yaml/"},
		"plantstore/tools/bench/empty":    {lambda + "lambda"},
		"plantstore/tools/bench/baseline": {sdk, lambda},
		"plantstore/tools/seed":           {"plantstore/internal/", sdk, lambda + "events"},
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
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,GoFiles", "plantstore/...").Output()
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
			if !standard(path) && !slices.ContainsFunc(rule, func(allowed string) bool {
				return path == allowed || strings.HasSuffix(allowed, "/") && strings.HasPrefix(path, allowed)
			}) {
				t.Errorf("package %s imports %s, want only %v", p.ImportPath, path, rule)
			}
		}
	}
	for path := range rules {
		t.Errorf("package %s has a rule and does not exist", path)
	}
}

// The functions hold nothing that they do not need: the SDK's config module reads
// files and asks services, for a quarter of the time that a start takes; the page
// and the command line are of the tool alone.
func TestFunctionsDoWithoutTheToolsParts(t *testing.T) {
	for _, p := range list(t) {
		if p.ImportPath != "plantstore/cmd/createplant" && p.ImportPath != "plantstore/cmd/authorizer" {
			continue
		}
		for _, path := range []string{"github.com/aws/aws-sdk-go-v2/config", "plantstore", "plantstore/internal/page", "github.com/swaggest/swgui/v5/static", "github.com/alecthomas/kong"} {
			if slices.Contains(p.Deps, path) {
				t.Errorf("%s depends on %s, want it to do without", p.ImportPath, path)
			}
		}
	}
}

func standard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return first != "plantstore" && !strings.Contains(first, ".")
}

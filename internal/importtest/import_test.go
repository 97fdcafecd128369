package importtest

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

const (
	sdk    = "github.com/aws/aws-sdk-go-v2/"
	lambda = "github.com/aws/aws-lambda-go/"
	jose   = "github.com/go-jose/go-jose/v4"
)

var (
	module   = processtest.Module()
	cmd      = module + "/cmd/"
	internal = module + "/internal/"
)

// allowed lists what each package may import besides the standard library. A path that ends in a slash stands for
// everything below it, also as the package of a rule.
func allowed() map[string][]string {
	smithy := []string{"github.com/aws/smithy-go", "github.com/aws/smithy-go/"}
	return map[string][]string{
		module:                    {},
		internal + "plant":        {},
		internal + "token":        {},
		internal + "memory":       {internal + "plant", internal + "token"},
		internal + "dynamo":       append(smithy, internal+"plant", internal+"token", sdk),
		internal + "api":          {internal + "plant", internal + "token"},
		internal + "gateway":      {lambda + "events"},
		internal + "jwt":          {internal + "token", jose},
		internal + "page":         {"github.com/swaggest/swgui/v5/static"},
		cmd + "internal/function": {internal + "dynamo", sdk, lambda},
		cmd + "createplant":       {cmd + "internal/", internal + "api", internal + "dynamo", lambda + "lambda"},
		cmd + "authorizer": {
			cmd + "internal/", internal + "api", internal + "dynamo", internal + "jwt", internal + "token", lambda + "lambda",
		},
		cmd + "plantstore": append(
			smithy, module, cmd+"internal/", internal, sdk, "github.com/alecthomas/kong",
		),
		module + "/examples/": {},
		// Product code imports none of these.
		module + "/test/":                {internal, module + "/test/", sdk},
		module + "/tools/":               {internal, module + "/test/", sdk, lambda + "events", "go.yaml.in/yaml/"},
		module + "/tools/bench/empty":    {lambda + "lambda"},
		module + "/tools/bench/baseline": {sdk, lambda},
	}
}

// TestImports checks every package that is not a test alone.
func TestImports(t *testing.T) {
	list := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports,Deps,GoFiles", module+"/...")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	rules, used := allowed(), map[string]bool{}
	for decoder := json.NewDecoder(strings.NewReader(string(out))); decoder.More(); {
		var p struct {
			ImportPath             string
			Imports, Deps, GoFiles []string
		}
		if err := decoder.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if len(p.GoFiles) == 0 {
			continue
		}
		name := p.ImportPath // of the rule
		for parent := name; rules[name] == nil && parent != ""; {
			name, parent = parent+"/", parent[:max(strings.LastIndex(parent, "/"), 0)]
		}
		if used[name] = true; rules[name] == nil {
			t.Errorf("package %s has no rule: add what it may import to this test", p.ImportPath)
		}
		for _, path := range p.Imports {
			first, _, _ := strings.Cut(path, "/")
			standard := !strings.HasPrefix(path+"/", module+"/") && !strings.Contains(first, ".")
			if !standard && !slices.ContainsFunc(rules[name], func(rule string) bool {
				return path == rule || strings.HasSuffix(rule, "/") && strings.HasPrefix(path, rule)
			}) {
				t.Errorf("package %s imports %s, want only %v", p.ImportPath, path, rules[name])
			}
		}
		// A function starts faster without the SDK's config module, which reads files and calls services, and without
		// the parts of the command-line tool.
		for _, path := range []string{sdk + "config", internal + "page", "github.com/alecthomas/kong"} {
			if slices.Contains(rules[name], lambda+"lambda") && slices.Contains(p.Deps, path) {
				t.Errorf("%s depends on %s, which a function does not need", p.ImportPath, path)
			}
		}
	}
	for name := range rules {
		if !used[name] {
			t.Errorf("the rule for %s is for no package", name)
		}
	}
}

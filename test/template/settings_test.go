package template

import (
	"encoding/json"
	"os"
	"path"
	"reflect"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// environment is a block of samconfig.toml for `sam deploy`.
type environment struct {
	StackName            string `json:"stack_name"`
	ResolveS3            bool   `json:"resolve_s3"`
	Capabilities         string
	ConfirmChangeset     *bool             `json:"confirm_changeset"`
	FailOnEmptyChangeset *bool             `json:"fail_on_empty_changeset"`
	ParameterOverrides   map[string]string `json:"parameter_overrides"`
	Tags                 string
}

// inBuild runs the test in a copy of the root that has the parameters of a build.
func inBuild(t *testing.T, parameters string) {
	t.Helper()
	folder := t.TempDir()
	for _, file := range []string{"template.yaml", "samconfig.toml", "environments.yaml", "test/template/environments.py", ".aws-sam/build/parameters.yaml"} {
		content := parameters
		if file != ".aws-sam/build/parameters.yaml" {
			content = read(t, file)
		}
		target := path.Join(folder, file)
		if err := os.MkdirAll(path.Dir(target), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(target, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
}

// TestEnvironments checks that `make deploy ENV=...` asks nothing: each stage has an
// environment of its name that sets every parameter, because SAM keeps the old value of
// one that is left out. `sam deploy` alone deploys dev.
func TestEnvironments(t *testing.T) {
	s := production(t)
	inBuild(t, "Architecture: arm64\nBuild: b1\nShift: gradual\n")
	var environments map[string]environment
	script(t, "sam", "environments.py", nil, &environments)
	if !reflect.DeepEqual(environments["default"], environments["dev"]) {
		t.Errorf("the default is %+v, want dev, %+v", environments["default"], environments["dev"])
	}
	for _, stage := range s.Parameters["Stage"].AllowedValues {
		name, _ := stage.(string)
		t.Run(name, func(t *testing.T) {
			e := environments[name]
			if !strings.HasSuffix(e.StackName, "-"+name) || e.ParameterOverrides["Stage"] != name {
				t.Errorf("it deploys the stack %s with the stage %s", e.StackName, e.ParameterOverrides["Stage"])
			}
			if e.ConfirmChangeset == nil || *e.ConfirmChangeset || !e.ResolveS3 || e.Capabilities == "" {
				t.Errorf("it has the settings %+v, want none that asks", e)
			}
			for parameter := range s.Parameters {
				if _, ok := e.ParameterOverrides[parameter]; !ok {
					t.Errorf("it does not set %s", parameter)
				}
			}
		})
	}
}

// TestDeployRole checks that the role of tools/deploy-role.yaml allows what
// CloudFormation needs for each resource of the stack, as its registry says, and that an
// action which takes no resource is allowed on all.
func TestDeployRole(t *testing.T) {
	var kinds []string
	for _, resource := range production(t).Resources {
		kinds = append(kinds, resource.Type)
	}
	var needed map[string][]string
	script(t, "sam", "handlers.py", kinds, &needed)
	var actions []string
	for _, permissions := range needed {
		for _, action := range permissions {
			if !slices.ContainsFunc(notNeeded, func(pattern string) bool { return matches(pattern, action) }) {
				actions = append(actions, action)
			}
		}
	}
	if len(actions) < 100 {
		t.Errorf("the registry lists the actions %v, want more", actions)
	}
	var wildcards []string
	script(t, "checkov", "wildcards.py", actions, &wildcards)
	statements := deployStatements(t)
	for _, action := range actions {
		takesNone := slices.Contains(wildcards, action)
		allowed := slices.ContainsFunc(statements, func(s statement) bool {
			return s.allows(action) && (!takesNone || equal(s.Resource, "*"))
		})
		if !allowed {
			t.Errorf("the role does not allow %s, which takes a resource = %t", action, !takesNone)
		}
	}
}

// notNeeded are actions that the registry lists for features that the stack does not
// use, and those that the role must not have.
var notNeeded = []string{
	"ec2:*", "elasticfilesystem:*", "firehose:*", "kinesis:*", "kms:*", "s3:*", "s3files:*",
	"dynamodb:*Item", "dynamodb:Query", "dynamodb:Scan", "dynamodb:*Replica", "dynamodb:*Kinesis*", "dynamodb:ImportTable",
	"dynamodb:*ResourcePolicy", "dynamodb:UpdateContributorInsights", "iam:DeleteRolePermissionsBoundary", "logs:*IndexPolicy",
	"logs:DeleteResourcePolicy", "dynamodb:CreateTable", "dynamodb:DeleteTable", "dynamodb:UpdateContinuousBackups", "dynamodb:UpdateTimeToLive",
	"lambda:GetCodeSigningConfig", "lambda:GetLayerVersion", "lambda:PassCapacityProvider", "codedeploy:RegisterOnPremisesInstance",
}

// matches reports whether an IAM pattern matches an action.
func matches(pattern, action string) bool {
	ok, err := path.Match(pattern, action)
	return ok && err == nil
}

func (s statement) allows(action string) bool {
	patterns, isList := s.Action.([]any)
	if !isList {
		patterns = []any{s.Action}
	}
	return s.Effect == "Allow" && slices.ContainsFunc(patterns, func(pattern any) bool { return matches(pattern.(string), action) })
}

// deployStatements returns the statements of the role of tools/deploy-role.yaml.
func deployStatements(t *testing.T) []statement {
	t.Helper()
	var r role
	deployResource(t, "Role", &r)
	return r.Policies[0].PolicyDocument.Statement
}

// deployResource decodes the properties of a resource of tools/deploy-role.yaml.
func deployResource(t *testing.T, name string, into any) {
	t.Helper()
	var file struct {
		Resources map[string]struct {
			Properties map[string]any `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "tools/deploy-role.yaml")), &file); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(file.Resources[name].Properties)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(encoded, into); err != nil {
		t.Fatal(err)
	}
}

package deployment

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	staging  = "plant-store-staging"
	roles    = "deploy-plant-store-staging"
	subject  = "repo:owner@1/repository@2:environment:staging"
	provider = "token.actions.githubusercontent.com"
)

// TestDeployment deploys staging as docs/operations.md and deploy/deploy do, from the role of the
// deployments to the deletion of the stack. Each step needs those before it. After each deployment,
// deploy/deploy runs the contract tests.
func TestDeployment(t *testing.T) {
	needs(t, "aws", "curl", "git")
	local := start(t)
	var role []string // the variables of the deployment role
	for _, step := range []struct {
		name string
		test func(*testing.T)
	}{
		{"the deployment role and the boundary are created", func(t *testing.T) {
			local.must(t, "aws", "cloudformation", "deploy", "--stack-name", roles, "--template-file", "deploy/role.yaml",
				"--capabilities", "CAPABILITY_IAM", "--parameter-overrides", "StackName="+staging, "Subject="+subject,
				"OidcProvider=arn:aws:iam::000000000000:oidc-provider/"+provider)
			boundary := `Stage = "staging", PermissionsBoundary = "` + local.outputs(t, roles)["Boundary"] + `"`
			local.edit(t, "samconfig.toml", "[staging.deploy.parameters]", `Stage = "staging"`, boundary)
		}},
		{"another environment cannot assume the role", func(t *testing.T) {
			_, refusal := local.assume(t, strings.Replace(subject, "staging", "production", 1))
			if !strings.Contains(refusal, "(AccessDenied)") {
				t.Errorf("the subject of production gets %q, want AccessDenied", refusal)
			}
		}},
		{"staging assumes the role", func(t *testing.T) {
			var refusal string
			role, refusal = local.assume(t, subject)
			if role == nil {
				t.Fatalf("the subject of staging gets %q, want credentials", refusal)
			}
		}},
		{"the role cannot reach the stack of dev", func(t *testing.T) {
			for _, arguments := range [][]string{
				{"describe-stacks", "--stack-name", "plant-store-dev"},
				{"create-stack", "--stack-name", "plant-store-dev", "--template-body", "{}"},
			} {
				output, err := local.run(t, slices.Concat(role, []string{"aws", "cloudformation"}, arguments)...)
				if err == nil || !strings.Contains(output, "(AccessDenied)") {
					t.Errorf("aws cloudformation %v = %q, want AccessDenied", arguments, output)
				}
			}
		}},
		{"an administrator creates staging, because the role may create no table", func(t *testing.T) {
			local.must(t, "BUILD=1111111 first", "deploy/deploy", "staging", "at-once")
		}},
		{"the role deploys another build with another parameter, which replaces both versions", func(t *testing.T) {
			local.edit(t, "samconfig.toml", "[staging.deploy.parameters]", `Stage = "staging"`, `Stage = "staging", Memory = 512`)
			local.must(t, append(role, "BUILD=2222222 second", "deploy/deploy", "staging")...)
			for _, function := range []string{"AuthorizerFunction", "CreatePlantFunction"} {
				var live struct{ MemorySize int }
				name := local.resources(t, staging)[function]
				local.aws(t, &live, "lambda", "get-function-configuration", "--function-name", name, "--qualifier", "live")
				if live.MemorySize != 512 {
					t.Errorf("the alias live of %s has %d MB, want 512", function, live.MemorySize)
				}
			}
		}},
		{"a broken build fails, and the way back is printed", func(t *testing.T) {
			local.edit(t, "internal/api/catalogue.go", "package api", "There is no bearer token", "No token")
			output, err := local.run(t, append(role, "BUILD=3333333 third", "deploy/deploy", "staging", "at-once")...)
			if err == nil {
				t.Error("a build with another message is deployed, want a failure")
			}
			if wayBack := "git checkout 2222222"; !strings.Contains(output, wayBack) {
				t.Errorf("a build with another message prints %s, want %q in it", output, wayBack)
			}
		}},
		{"production without a topic is refused", func(t *testing.T) {
			output, err := local.run(t, "sam", "deploy", "--config-env", "production")
			if err == nil || !strings.Contains(output, "Production requires an AlarmTopic") {
				t.Errorf("sam deploy = %v %s, want the assertion of template.yaml", err, output)
			}
		}},
		{"deleting the stack keeps its tables", func(t *testing.T) {
			resources := local.resources(t, staging)
			local.must(t, "sam", "delete", "--stack-name", staging, "--no-prompts")
			if output, err := local.run(t, "aws", "cloudformation", "describe-stacks", "--stack-name", staging); err == nil {
				t.Errorf("after `sam delete`, the stack is %s", output)
			}
			for _, table := range []string{"PlantsTable", "TokensTable"} {
				var answer struct{ Count int }
				local.aws(t, &answer, "dynamodb", "scan", "--table-name", resources[table], "--select", "COUNT")
				if answer.Count == 0 {
					t.Errorf("%s is empty, want what was written", table)
				}
			}
		}},
	} {
		if !t.Run(step.name, step.test) {
			t.FailNow()
		}
	}
}

// assume assumes the deployment role with a token of a subject. It returns the variables with the
// credentials, or the refusal.
func (local localAWS) assume(t *testing.T, subject string) (variables []string, refusal string) {
	t.Helper()
	claims, _ := json.Marshal(map[string]string{"iss": "https://" + provider, "aud": "sts.amazonaws.com", "sub": subject}) // text
	token := base64.RawURLEncoding.EncodeToString([]byte(`{}`)) + "." + base64.RawURLEncoding.EncodeToString(claims) + ".x"
	output, err := local.run(t, "aws", "sts", "assume-role-with-web-identity", "--role-arn", local.outputs(t, roles)["Role"],
		"--role-session-name", "github", "--web-identity-token", token, "--output", "json")
	if err != nil {
		return nil, output
	}
	var answer struct {
		Credentials struct{ AccessKeyId, SecretAccessKey, SessionToken string } //nolint:revive,staticcheck // AWS's names
	}
	if err := json.Unmarshal([]byte(output), &answer); err != nil {
		t.Fatalf("%v: %s", err, output)
	}
	return []string{
		"AWS_ACCESS_KEY_ID=" + answer.Credentials.AccessKeyId,
		"AWS_SECRET_ACCESS_KEY=" + answer.Credentials.SecretAccessKey,
		"AWS_SESSION_TOKEN=" + answer.Credentials.SessionToken,
	}, ""
}

// edit replaces a text in a file of the copied project, which must have it, from the first line with
// start on.
func (local localAWS) edit(t *testing.T, file, start, from, to string) {
	t.Helper()
	path := filepath.Join(local.folder, file)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(content), start)
	changed := strings.Replace(rest, from, to, 1)
	if !found || changed == rest {
		t.Fatalf("%s has no %q after %q", file, from, start)
	}
	if err := os.WriteFile(path, []byte(before+start+changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

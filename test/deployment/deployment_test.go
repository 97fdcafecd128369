package deployment

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	staging  = "plant-store-staging"
	roles    = "deploy-plant-store-staging"
	provider = "token.actions.githubusercontent.com"
	upload   = "S3_PREFIX=github/" + staging // as in deploy.yml
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
			local.must(t, "aws", "iam", "create-open-id-connect-provider", "--url", "https://"+provider, "--client-id-list", "sts.amazonaws.com")
			local.must(t, "aws", "cloudformation", "deploy", "--stack-name", roles, "--template-file", "deploy/role.yaml",
				"--capabilities", "CAPABILITY_IAM", "--parameter-overrides", "StackName="+staging,
				"Subject=repo:owner@1/repository@2:environment:staging")
			local.edit(t, "environments.yaml", "PermissionsBoundary: ''", "PermissionsBoundary: "+local.output(t, roles, "Boundary"))
		}},
		{"another environment cannot assume the role", func(t *testing.T) {
			output, err := local.assume(t, "repo:owner@1/repository@2:environment:production")
			if err == nil || !strings.Contains(output, "(AccessDenied)") {
				t.Errorf("the subject of production gets %q, want AccessDenied", output)
			}
		}},
		{"staging assumes the role", func(t *testing.T) {
			output, err := local.assume(t, "repo:owner@1/repository@2:environment:staging")
			credentials := strings.Fields(output)
			if err != nil || len(credentials) != 3 {
				t.Fatalf("the subject of staging gets %q, want credentials", output)
			}
			role = []string{
				"AWS_ACCESS_KEY_ID=" + credentials[0],
				"AWS_SECRET_ACCESS_KEY=" + credentials[1],
				"AWS_SESSION_TOKEN=" + credentials[2],
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
			local.edit(t, "environments.yaml", "Memory: 256", "Memory: 512")
			local.must(t, append(role, upload, "BUILD=2222222 second", "deploy/deploy", "staging")...)
			for _, function := range []string{"AuthorizerFunction", "CreatePlantFunction"} {
				live := []string{"lambda", "get-function-configuration", "--qualifier", "live", "--function-name"}
				if memory := local.query(t, "MemorySize", append(live, local.resource(t, staging, function))...); memory != "512" {
					t.Errorf("the alias live of %s has %s MB, want 512", function, memory)
				}
			}
		}},
		{"a broken build fails, and the way back is printed", func(t *testing.T) {
			local.edit(t, "internal/api/catalogue.go", "code: 2001", "code: 2009")
			output, err := local.run(t, append(role, upload, "BUILD=3333333 third", "deploy/deploy", "staging", "at-once")...)
			if wayBack := "git checkout 2222222"; err == nil || !strings.Contains(output, wayBack) {
				t.Errorf("a build with another code ends with %v and prints %s, want a failure and %q", err, output, wayBack)
			}
		}},
		{"the role cannot write where an administrator uploads, and an administrator takes nothing from there", func(t *testing.T) {
			bucket := local.output(t, "aws-sam-cli-managed-default", "SourceBucket")
			keys := strings.Fields(local.query(t, "Contents[?!starts_with(Key, 'github/')].Key", "s3api", "list-objects-v2", "--bucket", bucket))
			if len(keys) < 3 {
				t.Fatalf("the bucket has %q, want an administrator's template and code", keys)
			}
			for _, key := range keys {
				put := []string{"aws", "s3api", "put-object", "--bucket", bucket, "--body", "LICENSE", "--key", key}
				if output, err := local.run(t, append(role, put...)...); err == nil || !strings.Contains(output, "(AccessDenied)") {
					t.Errorf("the role writes %s: %v, %s, want AccessDenied", key, err, output)
				}
				local.must(t, put...) // as if it could
			}
			local.must(t, "git", "checkout", "internal", "environments.yaml")
			local.edit(t, "environments.yaml", "PermissionsBoundary: ''", "PermissionsBoundary: "+local.output(t, roles, "Boundary"))
			local.must(t, "BUILD=1111111 fourth", "deploy/deploy", "staging", "at-once")
		}},
		{"parameters that do not go together are refused", func(t *testing.T) {
			for parameters, refusal := range map[string]string{
				"Stage=production":                   "Production requires an AlarmTopic",
				"DomainName=plants.example.com":      "DomainName requires CertificateArn",
				"DefaultAddress=closed":              "Without DomainName",
				"TokenIssuer=https://issuer.example": "Set both TokenIssuer and TokenAudience",
				"TokenAudience=plants":               "Set both TokenIssuer and TokenAudience",
			} {
				output, err := local.run(t, "sam", "deploy", "--config-env", "dev", "--parameter-overrides", parameters)
				if err == nil || !strings.Contains(output, refusal) {
					t.Errorf("sam deploy with %s = %v %s, want %q", parameters, err, output, refusal)
				}
			}
		}},
		{"deleting the stack keeps its tables", func(t *testing.T) {
			tables := []string{local.resource(t, staging, "PlantsTable"), local.resource(t, staging, "TokensTable")}
			local.must(t, "sam", "delete", "--stack-name", staging, "--no-prompts")
			if output, err := local.run(t, "aws", "cloudformation", "describe-stacks", "--stack-name", staging); err == nil {
				t.Errorf("after `sam delete`, the stack is %s", output)
			}
			for _, table := range tables {
				if count := local.query(t, "Count", "dynamodb", "scan", "--table-name", table, "--select", "COUNT"); count == "0" {
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

// assume assumes the deployment role with a token of a subject. It returns the credentials, or the
// refusal.
func (local localAWS) assume(t *testing.T, subject string) (output string, err error) {
	t.Helper()
	claims := `{"iss":"https://` + provider + `","aud":"sts.amazonaws.com","sub":"` + subject + `"}`
	token := base64.RawURLEncoding.EncodeToString([]byte(`{}`)) + "." + base64.RawURLEncoding.EncodeToString([]byte(claims)) + ".x"
	return local.run(t, "aws", "sts", "assume-role-with-web-identity", "--role-arn", local.output(t, roles, "Role"),
		"--role-session-name", "github", "--web-identity-token", token,
		"--query", "Credentials.[AccessKeyId,SecretAccessKey,SessionToken]", "--output", "text")
}

// edit replaces a text in a file of the copied project, which must have it.
func (local localAWS) edit(t *testing.T, file, from, to string) {
	t.Helper()
	path := filepath.Join(local.folder, file)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := strings.Replace(string(content), from, to, 1)
	if changed == string(content) {
		t.Fatalf("%s has no %q", file, from)
	}
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
}

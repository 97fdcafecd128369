package deployment

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// Where GitHub's role uploads, as in deploy.yml, and where the administrator of a rehearsal does.
const (
	roleUploads  = "S3_PREFIX=github/" + rehearsalStack
	adminUploads = "S3_PREFIX=" + rehearsalStack
)

var functions = []string{"AuthorizerFunction", "CreatePlantFunction"}

// testPassed is the verdict of deploy/status --test.
const testPassed = "test                 passed\n"

// deploymentClaims are about the first deployment and the rights of GitHub's role.
var deploymentClaims = []claim{
	{name: "the deployment role and the boundary are created", check: func(r *rehearsal, t *testing.T) string {
		if r.isLocal { // in an account, nobody uses it here
			r.must(t, "aws", "iam", "create-open-id-connect-provider", "--url", "https://"+provider, "--client-id-list", "sts.amazonaws.com")
		}
		r.must(t, "aws", "cloudformation", "deploy", "--stack-name", roleStack, "--template-file", "deploy/role.yaml",
			"--capabilities", "CAPABILITY_IAM", "--parameter-overrides", "StackName="+rehearsalStack,
			"Subject=repo:owner@1/repository@2:environment:staging")
		r.boundary = r.output(t, roleStack, "Boundary")
		return r.output(t, roleStack, "Role")
	}},
	{name: "a job of the environment assumes the role, one of another environment does not", check: func(r *rehearsal, t *testing.T) string {
		role := r.output(t, roleStack, "Role")
		finding := "not shown: only GitHub issues tokens for its jobs"
		if r.isLocal { // it does not check a token's signature
			for environment, want := range map[string]string{"staging": "ASIA", "production": "(AccessDenied)"} {
				subject := `{"iss":"https://` + provider + `","aud":"sts.amazonaws.com","sub":"repo:owner@1/repository@2:environment:` + environment + `"}`
				token := "e30." + base64.RawURLEncoding.EncodeToString([]byte(subject)) + ".x"
				output, err := r.run(t, "aws", "sts", "assume-role-with-web-identity", "--role-arn", role,
					"--role-session-name", "github", "--web-identity-token", token, "--query", "Credentials.AccessKeyId")
				if !strings.Contains(output, want) {
					t.Errorf("a job of %s gets %s %v, want %s", environment, output, err, want)
				}
			}
			finding = "AccessDenied for the other"
		}
		// By the id of a user or a role: the name of a role's session may change when its credentials are renewed.
		account := r.query(t, "Account", "sts", "get-caller-identity")
		id, _, _ := strings.Cut(r.query(t, "UserId", "sts", "get-caller-identity"), ":")
		trust := fmt.Sprintf(`{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":{"AWS":%q},"Action":"sts:AssumeRole",
			"Condition":{"StringLike":{"aws:userid":[%q,%q]}}}}`, account, id, id+":*")
		r.must(t, "aws", "iam", "update-assume-role-policy", "--role-name", role[strings.LastIndex(role, "/")+1:], "--policy-document", trust)
		return finding + "; from now on, whoever rehearses assumes it"
	}},
	{name: "the role cannot reach another stack, or create a table", check: func(r *rehearsal, t *testing.T) string {
		const template = `{"Resources":{"Handle":{"Type":"AWS::CloudFormation::WaitConditionHandle"}}}`
		role := r.assume(t)
		for _, arguments := range [][]string{
			{"cloudformation", "describe-stacks", "--stack-name", "plant-store-of-nobody"},
			{"cloudformation", "create-stack", "--stack-name", "plant-store-of-nobody", "--template-body", template},
			{
				"dynamodb", "create-table", "--table-name", rehearsalStack + "-PlantsTable-x", "--billing-mode", "PAY_PER_REQUEST",
				"--attribute-definitions", "AttributeName=id,AttributeType=N", "--key-schema", "AttributeName=id,KeyType=HASH",
			},
		} {
			output, err := r.run(t, slices.Concat(role, []string{"aws"}, arguments)...)
			if err == nil || !strings.Contains(output, "(AccessDenied") {
				t.Errorf("aws %q = %q, want AccessDenied", arguments, output)
			}
		}
		return "AccessDenied"
	}},
	{name: "an administrator makes the first deployment", check: func(r *rehearsal, t *testing.T) string {
		r.must(t, adminUploads, "BUILD="+r.commit+" first", "make", "deploy", "ENV=rehearsal", "SHIFT=at-once")
		r.url = r.output(t, rehearsalStack, "Url")
		r.token = r.issue(t, "alice", "1d")
		return r.url
	}},
}

// updateClaims are about later deployments. Only the last one waits for a canary.
var updateClaims = []claim{
	{name: "a broken build fails, and the commands that it prints lead back", check: func(r *rehearsal, t *testing.T) string {
		r.edit(t, "internal/api/catalogue.go", "code: 2001", "code: 2009")
		output, err := r.run(t, append(r.assume(t), roleUploads, "BUILD=2222222 broken", "deploy/deploy", "rehearsal", "at-once")...)
		if wayBack := "git checkout " + r.commit; err == nil || !strings.Contains(output, wayBack) {
			t.Errorf("a build with another code ends with %v and prints %s, want a failure and %q", err, output, wayBack)
		}
		r.expectLive(t, output, "2222222 broken")
		for _, command := range strings.Split(output, "build "+r.commit+" first:\n")[1:] {
			command, _, _ = strings.Cut(command, "\n")
			r.must(t, "bash", "-c", command)
		}
		shown := r.must(t, "deploy/status", rehearsalStack, "--test")
		r.expectLive(t, shown, r.commit+" first")
		r.expect(t, strings.Contains(shown, testPassed), "it fails the test: %s", shown)
		return "git checkout " + r.commit
	}},
	{name: "the role cannot write where an administrator uploads, and an administrator takes nothing from there", check: func(r *rehearsal, t *testing.T) string {
		bucket := r.output(t, "aws-sam-cli-managed-default", "SourceBucket")
		keys := strings.Fields(r.query(t, "Contents[].Key", "s3api", "list-objects-v2", "--bucket", bucket, "--prefix", rehearsalStack+"/"))
		if len(keys) < 3 {
			t.Fatalf("the bucket has %q, want an administrator's template and code", keys)
		}
		role := r.assume(t)
		for _, key := range keys {
			put := []string{"aws", "s3api", "put-object", "--bucket", bucket, "--body", "LICENSE", "--key", key}
			if output, err := r.run(t, append(role, put...)...); err == nil || !strings.Contains(output, "(AccessDenied)") {
				t.Errorf("the role writes %s: %v, %s, want AccessDenied", key, err, output)
			}
			r.must(t, put...) // as if it could
		}
		r.must(t, adminUploads, "BUILD=3333333 administrator", "deploy/deploy", "rehearsal", "at-once")
		return "AccessDenied, and the administrator's own build"
	}},
	{name: "a deployment makes no version of a function that it does not change", check: func(r *rehearsal, t *testing.T) string {
		version := []string{"lambda", "get-alias", "--name", "live", "--function-name", r.resource(t, rehearsalStack, "CreatePlantFunction")}
		before := r.query(t, "FunctionVersion", version...)
		r.edit(t, "cmd/authorizer/main.go", "func main() {", "func main() {\n\tlog.Print(os.Args)")
		r.must(t, adminUploads, "BUILD=4444444 authorizer", "deploy/deploy", "rehearsal", "at-once") // to the same prefix
		if after := r.query(t, "FunctionVersion", version...); after != before {
			t.Errorf("createplant has version %s, want %s, as before", after, before)
		}
		return "version " + before + " stays"
	}},
	{name: "the role deploys another build, with other parameters, another throttle and another alarm", check: func(r *rehearsal, t *testing.T) string {
		r.edit(t, "environments/shared.yaml", "Memory: 256", "Memory: 512")
		r.edit(t, "environments/shared.yaml", "ThrottleRate: 1000", "ThrottleRate: 900")
		r.edit(t, "template.yaml", "In 5 of 60 minutes, a client", "In 5 of 60 minutes, any client")
		r.calm(t)
		began := time.Now()
		r.must(t, append(r.assume(t), roleUploads, "BUILD="+r.commit+" canary", "deploy/deploy", "rehearsal")...)
		took := time.Since(began)
		shown := r.must(t, append(r.assume(t), "deploy/status", rehearsalStack, "--test")...)
		r.expectLive(t, shown, r.commit+" canary")
		r.expect(t, strings.Contains(shown, testPassed), "it fails the test: %s", shown)
		alarm := r.query(t, "MetricAlarms[].AlarmDescription", "cloudwatch", "describe-alarms", "--alarm-name-prefix", rehearsalStack+"-ExpiredAlarm")
		r.expect(t, strings.Contains(alarm, "any client"), "ExpiredAlarm has the description %q, want the new one", alarm)
		for _, function := range functions {
			live := []string{"lambda", "get-function-configuration", "--qualifier", "live", "--function-name"}
			if memory := r.query(t, "MemorySize", append(live, r.resource(t, rehearsalStack, function))...); memory != "512" {
				t.Errorf("the alias live of %s has %s MB, want 512", function, memory)
			}
		}
		if r.isLocal {
			return "at once"
		}
		if took < 10*time.Minute {
			t.Errorf("it takes %v, want the ten minutes of a canary", took)
		}
		return "over a canary, in " + took.Round(time.Second).String()
	}},
}

// assume returns the variables of the deployment role.
func (r *rehearsal) assume(t *testing.T) (variables []string) {
	t.Helper()
	const query = "Credentials.[join('=', ['AWS_ACCESS_KEY_ID', AccessKeyId]), " +
		"join('=', ['AWS_SECRET_ACCESS_KEY', SecretAccessKey]), join('=', ['AWS_SESSION_TOKEN', SessionToken])]"
	arn := r.output(t, roleStack, "Role")
	r.until(t, time.Minute, func() bool { // IAM takes some seconds
		output, err := r.run(t, "aws", "sts", "assume-role", "--role-arn", arn, "--role-session-name", "rehearsal", "--query", query, "--output", "text")
		variables = strings.Fields(output)
		return err == nil
	})
	if len(variables) != 3 {
		t.Fatalf("the role has %d variables, want 3", len(variables))
	}
	return variables
}

// expectLive checks that deploy/status shows a build as that of all traffic.
func (r *rehearsal) expectLive(t *testing.T, shown, build string) {
	t.Helper()
	for _, function := range functions {
		line := regexp.MustCompile(`(?m)^ *` + function + ` +version \d+: 100 %, build ` + regexp.QuoteMeta(build) + `(;.*)?$`) // an alias may have been moved by hand
		if !line.MatchString(shown) {
			t.Errorf("%s is not shown with the build %s:\n%s", function, build, shown)
		}
	}
}

// edit replaces a text in a file of the copied project, which must have it.
func (c cloud) edit(t *testing.T, file, from, to string) {
	t.Helper()
	path := filepath.Join(c.folder, file)
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

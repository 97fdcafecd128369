package deployment

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/test/processtest"
)

const (
	stack    = "plant-store-rehearsal"
	roles    = "deploy-" + stack
	provider = "token.actions.githubusercontent.com"
	origin   = "https://allowed.example" // whose pages may call the API
)

// A rehearsal is what its claims share.
type rehearsal struct {
	cloud
	isLocal bool // a local AWS
	dry     bool // the claim cannot be shown there, so its calls alone are checked

	role         []string // the variables of the deployment role
	madeProvider bool     // GitHub's, of tokens

	url, token           string // of the API; of the subject alice
	oldPlants, oldTokens string // the tables of the deleted stack
}

// A claim is about a deployment. It may need those before it.
type claim struct {
	name string // a sentence
	only string // what the local AWS lacks to show it, if anything
	show func(r *rehearsal, t *testing.T) (came string)
}

// TestRehearsal goes through the claims. It writes what came to the file $REPORT, in Markdown, if it is set. In an
// account, it removes what it made, also after a failure or an interrupt.
func TestRehearsal(t *testing.T) {
	needs(t, "aws", "curl", "git", "jq")
	r := &rehearsal{isLocal: os.Getenv("REHEARSAL") != "account"}
	if r.isLocal {
		r.cloud = start(t)
	} else {
		r.folder = processtest.Repository(t)
		t.Cleanup(func() { r.remove(t) })
		r.remove(t) // what an interrupted rehearsal left
	}
	r.addEnvironment(t)
	// A terminal sends an interrupt to the running command too, which fails then.
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, syscall.SIGINT, syscall.SIGTERM)
	report := []string{"| claim | what came | time |", "|---|---|---|"}
	for _, c := range slices.Concat(deploymentClaims, gatewayClaims, updateClaims, canaryClaims, operationClaims, recoveryClaims) {
		if len(interrupts) > 0 {
			t.Error("interrupted")
			break
		}
		began := time.Now()
		r.dry = r.isLocal && c.only != ""
		came := ""
		passed := t.Run(c.name, func(t *testing.T) { came = c.show(r, t) })
		switch {
		case !passed:
			came = "**failed** " + came
		case r.dry:
			came = "not shown: the local AWS has no " + c.only
		}
		report = append(report, fmt.Sprintf("| %s | %s | %s |", c.name, came, time.Since(began).Round(time.Second)))
		if !passed {
			break
		}
	}
	text := strings.Join(report, "\n") + "\n"
	fmt.Print(text)
	if file := os.Getenv("REPORT"); file != "" {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// addEnvironment adds the environment rehearsal to samconfig.toml. It is like staging: it has a canary.
func (r *rehearsal) addEnvironment(t *testing.T) {
	t.Helper()
	path := filepath.Join(r.folder, "samconfig.toml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(content), "[staging.deploy.parameters]\n")
	block, _, _ = strings.Cut(block, "\n\n")
	block = strings.ReplaceAll(block, "staging", "rehearsal")
	block = strings.Replace(block, `{ Stage = "rehearsal"`, `{ Stage = "staging", RefusalLimit = 5, AllowedOrigins = "`+origin+`"`, 1)
	added := string(content) + "\n[rehearsal.deploy.parameters]\n" + block + "\n"
	if err := os.WriteFile(path, []byte(added), 0o600); err != nil {
		t.Fatal(err)
	}
}

// aws returns what a query finds in the answer to a command of the AWS CLI. If the claim cannot be shown, it
// fails only if the CLI does not know the call or a parameter.
func (r *rehearsal) aws(t *testing.T, query string, arguments ...string) string {
	t.Helper()
	if !r.dry {
		return r.query(t, query, arguments...)
	}
	output, err := r.run(t, append(append([]string{"aws"}, arguments...), "--query", query)...)
	for _, unknown := range []string{"aws: error:", "Unknown options:", "Parameter validation failed:"} {
		if err != nil && strings.Contains(output, unknown) {
			t.Errorf("aws %q: %s", arguments, output)
		}
	}
	return ""
}

// until waits until a condition is met, and fails the claim after a limit. A claim that cannot be shown does
// not wait.
func (r *rehearsal) until(t *testing.T, limit time.Duration, isMet func() bool) {
	t.Helper()
	for began := time.Now(); !isMet() && !r.dry; time.Sleep(5 * time.Second) {
		if time.Since(began) > limit {
			t.Fatalf("not met in %v", limit)
		}
	}
}

// deploy deploys a build by a script of deploy/, with these variables.
func (r *rehearsal) deploy(t *testing.T, build string, command ...string) (output string, err error) {
	t.Helper()
	if r.dry {
		return "", nil
	}
	return r.run(t, append([]string{"BUILD=" + build}, command...)...)
}

// remove removes what a rehearsal makes in an account, and says what could not be removed.
func (r *rehearsal) remove(t *testing.T) {
	t.Helper()
	var left []string
	try := func(arguments ...string) (output string) {
		output, err := r.run(t, append([]string{"aws"}, arguments...)...)
		if err != nil && !strings.Contains(output, "does not exist") && !strings.Contains(output, "NoSuch") {
			left = append(left, "aws "+strings.Join(arguments, " ")+"    # "+strings.TrimSpace(output))
		}
		return strings.TrimSpace(output)
	}
	for _, name := range []string{stack, roles} {
		try("cloudformation", "delete-stack", "--stack-name", name)
		try("cloudformation", "wait", "stack-delete-complete", "--stack-name", name)
	}
	tables := try("dynamodb", "list-tables", "--query", "TableNames[?starts_with(@, '"+stack+"-')]", "--output", "text")
	for table := range strings.FieldsSeq(tables) {
		try("dynamodb", "update-table", "--table-name", table, "--no-deletion-protection-enabled")
		try("dynamodb", "wait", "table-exists", "--table-name", table)
		try("dynamodb", "delete-table", "--table-name", table)
	}
	bucket := try("cloudformation", "describe-stacks", "--stack-name", "aws-sam-cli-managed-default",
		"--query", "Stacks[0].Outputs[?OutputKey=='SourceBucket'].OutputValue", "--output", "text")
	if bucket != "" && !strings.Contains(bucket, " ") {
		try("s3", "rm", "--recursive", "--quiet", "s3://"+bucket+"/github/"+stack+"/")
		try("s3", "rm", "--recursive", "--quiet", "s3://"+bucket+"/"+stack+"/")
	}
	if r.madeProvider {
		account := try("sts", "get-caller-identity", "--query", "Account", "--output", "text")
		try("iam", "delete-open-id-connect-provider", "--open-id-connect-provider-arn", "arn:aws:iam::"+account+":oidc-provider/"+provider)
	}
	if len(left) > 0 {
		t.Errorf("not removed:\n%s", strings.Join(left, "\n"))
	}
}

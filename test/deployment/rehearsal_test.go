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

	interrupts chan os.Signal
	boundary   string // of the roles of the stack, once it exists
	commit     string // the head of main of the copied project

	url, token           string // of the API; of the subject alice
	oldPlants, oldTokens string // the tables of the deleted stack
}

// A claim is about a deployment. It may need those before it.
type claim struct {
	name string // a sentence
	only string // why the local AWS cannot show it, if so
	show func(r *rehearsal, t *testing.T) (came string)
}

// TestRehearsal goes through the claims. It writes what came to the file $REPORT, in Markdown, if it is set. It
// removes what it made, also after a failure or an interrupt.
func TestRehearsal(t *testing.T) {
	needs(t, "aws", "curl", "git", "jq")
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	r := &rehearsal{isLocal: os.Getenv("REHEARSAL") != "account", interrupts: make(chan os.Signal, 1)}
	// A terminal sends an interrupt to the running command too, which fails then.
	signal.Notify(r.interrupts, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	if r.isLocal {
		r.cloud = start(t)
	} else {
		r.folder = processtest.Repository(t)
	}
	r.remove(t) // what an interrupted rehearsal left
	if t.Failed() {
		return
	}
	t.Cleanup(func() { r.remove(t) })
	r.addEnvironment(t)
	r.commit = strings.TrimSpace(r.must(t, "git", "rev-parse", "HEAD"))
	r.must(t, "git", "update-ref", "refs/remotes/origin/main", r.commit)
	commit := strings.TrimSpace(r.must(t, "git", "-C", root, "describe", "--always", "--dirty", "--exclude=*"))
	report := fmt.Sprintf("%s, commit %s, %s\n\n| claim | what came | time |\n|---|---|---|\n", time.Now().UTC().Format(time.DateOnly), commit, r.where(t))
	claims := slices.Concat(deploymentClaims, gatewayClaims, updateClaims, canaryClaims, operationClaims, recoveryClaims)
	for i, c := range claims {
		if len(r.interrupts) > 0 {
			report += fmt.Sprintf("\nInterrupted: %d claims were not tried.\n", len(claims)-i)
			t.Error("interrupted")
			break
		}
		if i >= len(deploymentClaims) && r.url == "" {
			break // without a deployment, nothing can be shown
		}
		began := time.Now()
		r.dry = r.isLocal && c.only != ""
		r.undoEdits(t)
		came := ""
		passed := t.Run(c.name, func(t *testing.T) { came = c.show(r, t) })
		switch {
		case !passed:
			came = "**failed**, as the output says; " + came
		case r.dry:
			came = "not shown in the local AWS: " + c.only
		}
		came = strings.NewReplacer("|", "\\|", "\n", " ").Replace(came)
		report += fmt.Sprintf("| %s | %s | %s |\n", c.name, came, time.Since(began).Round(time.Second))
	}
	fmt.Print(report)
	if file := os.Getenv("REPORT"); file != "" {
		if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
			t.Error(err)
		}
		fmt.Println("The report is in", file)
	}
}

// where returns where the rehearsal deploys.
func (r *rehearsal) where(t *testing.T) string {
	t.Helper()
	if r.isLocal {
		return "in a local AWS"
	}
	return "in account " + r.query(t, "Account", "sts", "get-caller-identity") + ", " + os.Getenv("AWS_REGION")
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
	added := string(content) + "\n[rehearsal.deploy.parameters]\n" + block + "\n"
	if err := os.WriteFile(path, []byte(added), 0o600); err != nil {
		t.Fatal(err)
	}
	parameters := filepath.Join(r.folder, "environments/rehearsal.yaml")
	if err := os.WriteFile(parameters, []byte("Stage: staging\nRefusalLimit: 5\nAllowedOrigins: "+origin+"\n"), 0o600); err != nil {
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
		if time.Since(began) > limit || len(r.interrupts) > 0 {
			t.Fatalf("not met in %v", time.Since(began).Round(time.Second))
		}
	}
}

// undoEdits undoes the edits of the claim before, but for the boundary.
func (r *rehearsal) undoEdits(t *testing.T) {
	t.Helper()
	r.must(t, "git", "checkout", "--quiet", "internal", "cmd", "environments/shared.yaml", "template.yaml")
	if r.boundary != "" {
		r.edit(t, "environments/shared.yaml", "PermissionsBoundary: ''", "PermissionsBoundary: "+r.boundary)
	}
}

// name returns the physical id of a resource of the stack, or its logical id if the claim cannot be shown.
func (r *rehearsal) name(t *testing.T, resource string) string {
	t.Helper()
	if r.dry {
		return resource
	}
	return r.resource(t, stack, resource)
}

// remove removes what a rehearsal makes in an account, and says what could not be removed.
func (r *rehearsal) remove(t *testing.T) {
	t.Helper()
	fmt.Println("Removing what a rehearsal makes. In an account, this takes some minutes; after an interrupt, up to an hour.")
	removed := true
	try := func(arguments ...string) string {
		var stderr strings.Builder
		command := r.command(t, append([]string{"aws"}, arguments...)...)
		command.Stderr = &stderr
		printed, err := command.Output()
		if err == nil {
			return strings.TrimSpace(string(printed))
		}
		output := stderr.String()
		if !strings.Contains(output, "does not exist") && !strings.Contains(output, "NotFound") && !strings.Contains(output, "NoSuch") {
			t.Errorf("not removed: aws %s\n%s", strings.Join(arguments, " "), output)
			removed = false
		}
		return ""
	}
	stage := try("cloudformation", "describe-stacks", "--stack-name", stack, "--query", "Stacks[0].Tags[?Key=='Stage'].Value", "--output", "text")
	if stage != "" && stage != "rehearsal" {
		t.Errorf("not removed: %s is no stack of a rehearsal", stack)
		return
	}
	for _, name := range []string{stack, roles} {
		r.settle(t, name)
		try("cloudformation", "delete-stack", "--stack-name", name)
		try("cloudformation", "wait", "stack-delete-complete", "--stack-name", name)
		if !removed {
			return // the tables are still those of a stack
		}
	}
	tables := try("dynamodb", "list-tables", "--query", "TableNames[?starts_with(@, '"+stack+"-PlantsTable-') || starts_with(@, '"+stack+"-TokensTable-')]", "--output", "text")
	for table := range strings.FieldsSeq(tables) {
		try("dynamodb", "wait", "table-exists", "--table-name", table)
		try("dynamodb", "update-table", "--table-name", table, "--no-deletion-protection-enabled")
		try("dynamodb", "wait", "table-exists", "--table-name", table)
		try("dynamodb", "delete-table", "--table-name", table)
	}
	bucket := try("cloudformation", "describe-stacks", "--stack-name", "aws-sam-cli-managed-default",
		"--query", "Stacks[0].Outputs[?OutputKey=='SourceBucket'].OutputValue", "--output", "text")
	for _, prefix := range []string{stack + "/", "github/" + stack + "/"} {
		if bucket == "" {
			continue
		}
		versions := try("s3api", "list-object-versions", "--bucket", bucket, "--prefix", prefix, "--output", "json",
			"--query", "{Objects: [Versions, DeleteMarkers][][].{Key: Key, VersionId: VersionId}}")
		if strings.Contains(versions, "VersionId") {
			if errors := try("s3api", "delete-objects", "--bucket", bucket, "--delete", versions, "--query", "Errors"); errors != "null" {
				t.Errorf("not removed from %s: %s", bucket, errors)
			}
		}
	}
}

// settle cancels an update of a stack that an interrupt left running, and waits until the stack can be deleted.
func (r *rehearsal) settle(t *testing.T, name string) {
	t.Helper()
	for range 240 {
		status, _ := r.run(t, "aws", "cloudformation", "describe-stacks", "--stack-name", name, "--query", "Stacks[0].StackStatus", "--output", "text")
		status = strings.TrimSpace(status)
		if !strings.HasSuffix(status, "_IN_PROGRESS") || status == "REVIEW_IN_PROGRESS" || status == "CREATE_IN_PROGRESS" {
			return
		}
		_, _ = r.run(t, "aws", "cloudformation", "cancel-update-stack", "--stack-name", name) // refused unless it is an update
		time.Sleep(15 * time.Second)
	}
}

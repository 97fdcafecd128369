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
	rehearsalStack = "plant-store-rehearsal"
	roleStack      = "deploy-" + rehearsalStack
	provider       = "token.actions.githubusercontent.com"
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
	name     string // a sentence
	notLocal string // why the local AWS cannot show it, if so
	check    func(r *rehearsal, t *testing.T) (finding string)
}

// TestRehearsal goes through the claims, in a local AWS or, by `make rehearse`, in an AWS account. Of a claim that
// the local AWS cannot show, it checks there that the AWS CLI knows the calls and their parameters. It writes the
// findings to the file $REPORT, in Markdown, if it is set. It removes what it made, also after a failure or an interrupt.
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
	if left := r.remove(t); left != "" {
		t.Fatal("an earlier rehearsal left this, and it cannot be removed: ", left)
	}
	t.Cleanup(func() {
		if left := r.remove(t); left != "" {
			t.Error("not removed: ", left)
		}
	})
	r.addEnvironment(t)
	r.commit = strings.TrimSpace(r.must(t, "git", "rev-parse", "HEAD"))
	r.must(t, "git", "update-ref", "refs/remotes/origin/main", r.commit)
	commit := strings.TrimSpace(r.must(t, "git", "-C", root, "describe", "--always", "--dirty", "--exclude=*"))
	report := fmt.Sprintf("%s, commit %s, %s\n\n| claim | finding | time |\n|---|---|---|\n", time.Now().UTC().Format(time.DateOnly), commit, r.where(t))
	claims := allClaims()
	for i, c := range claims {
		if len(r.interrupts) > 0 {
			report += fmt.Sprintf("\nInterrupted: %d claims were not tried.\n", len(claims)-i)
			t.Error("interrupted")
			break
		}
		if i >= len(deploymentClaims) && r.url == "" {
			break // without a deployment, nothing can be shown
		}
		report += r.show(t, c)
	}
	report += notShown
	fmt.Print(report)
	if file := os.Getenv("REPORT"); file != "" {
		if err := os.WriteFile(file, []byte(report), 0o600); err != nil {
			t.Error(err)
		}
		fmt.Println("The report is in", file)
	}
}

// allClaims returns the claims in the order in which a rehearsal shows them.
func allClaims() []claim {
	claims := slices.Concat(deploymentClaims, gatewayClaims)
	claims = append(claims, corsClaims...)
	claims = slices.Concat(claims, updateClaims, canaryClaims, operationClaims)
	claims = append(claims, lossClaims...)
	claims = append(claims, deletionClaims...)
	claims = append(claims, returnClaims...)
	return claims
}

// show checks a claim, and returns its row of the report.
func (r *rehearsal) show(t *testing.T, c claim) (row string) {
	t.Helper()
	began := time.Now()
	r.dry = r.isLocal && c.notLocal != ""
	r.undoEdits(t)
	finding := ""
	passed := t.Run(c.name, func(t *testing.T) { finding = c.check(r, t) })
	switch {
	case !passed:
		finding = "**failed**, as the output says; " + finding
	case r.dry:
		finding = "not shown in the local AWS: " + c.notLocal
	}
	finding = strings.NewReplacer("|", "\\|", "\n", " ").Replace(finding)
	return fmt.Sprintf("| %s | %s | %s |\n", c.name, finding, time.Since(began).Round(time.Second))
}

// notShown is what no rehearsal shows. It ends the report.
const notShown = "\nNo rehearsal shows:\n\n" +
	"- the JWTs of an identity provider\n" +
	"- the restore of a backup in another account\n" +
	"- GitHub's own tokens\n" +
	"- a domain\n" +
	"- DegradedAlarm, GatewayAlarm and ThrottledAlarm, and the mail of an alarm\n" +
	"- how often DegradedMetric and ThrottledMetric count\n" +
	"- that a query finds what its title says: the report has what it found\n" +
	"- that DynamoDB removes expired tokens\n" +
	"- the stack policy, and the refusal to import a resource into the stack\n" +
	"- deploy/account.yaml\n"

// where returns where the rehearsal deploys.
func (r *rehearsal) where(t *testing.T) string {
	t.Helper()
	if r.isLocal {
		return "in a local AWS"
	}
	return "in account " + r.query(t, "Account", "sts", "get-caller-identity") + ", " + os.Getenv("AWS_REGION")
}

// addEnvironment makes the environment rehearsal of staging: it has a canary.
func (r *rehearsal) addEnvironment(t *testing.T) {
	t.Helper()
	r.must(t, "sed", "-i.bak", "s/staging/rehearsal/g", "samconfig.toml")
	parameters := "Stage: staging\nRefusalLimit: 5\n"
	parameters += "AllowedOrigins: " + origin + "\n"
	path := filepath.Join(r.folder, "environments/rehearsal.yaml")
	if err := os.WriteFile(path, []byte(parameters), 0o600); err != nil {
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
	return r.resource(t, rehearsalStack, resource)
}

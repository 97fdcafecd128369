package deployment

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A removal removes what a rehearsal makes in an account.
type removal struct {
	*rehearsal
	failures string // the commands that failed, and why
}

// remove removes what a rehearsal makes in an account. It returns the commands that failed, and why.
func (r *rehearsal) remove(t *testing.T) (failures string) {
	t.Helper()
	fmt.Println("Removing what a rehearsal makes. In an account, this takes some minutes; after an interrupt, up to an hour.")
	m := &removal{rehearsal: r}
	stage := m.try(t, "cloudformation", "describe-stacks", "--stack-name", rehearsalStack, "--query", "Stacks[0].Tags[?Key=='Stage'].Value", "--output", "text")
	if stage != "" && stage != "rehearsal" {
		return rehearsalStack + " is no stack of a rehearsal"
	}
	m.settle(t, rehearsalStack)
	m.unprotectTables(t)
	for _, name := range []string{rehearsalStack, roleStack} {
		m.removeStack(t, name)
		if m.failures != "" { // the tables are still those of a stack
			return m.failures
		}
	}
	m.removeLogs(t)
	m.removeTables(t)
	m.removeUploads(t, rehearsalStack+"/")
	m.removeUploads(t, "github/"+rehearsalStack+"/")
	return m.failures
}

// try runs a command of the AWS CLI, and returns what it prints. It is no failure that something does not exist.
func (m *removal) try(t *testing.T, arguments ...string) string {
	t.Helper()
	var stderr strings.Builder
	command := m.command(t, append([]string{"aws"}, arguments...)...)
	command.Stderr = &stderr
	printed, err := command.Output()
	if err == nil {
		return strings.TrimSpace(string(printed))
	}
	output := stderr.String()
	if !strings.Contains(output, "does not exist") && !strings.Contains(output, "NotFound") && !strings.Contains(output, "NoSuch") {
		m.failures += "aws " + strings.Join(arguments, " ") + "\n" + output
	}
	return ""
}

// tables returns the names of the stack's tables, which a deleted stack leaves.
func (m *removal) tables(t *testing.T) []string {
	t.Helper()
	return strings.Fields(m.try(t, "dynamodb", "list-tables", "--output", "text", "--query",
		"TableNames[?starts_with(@, '"+rehearsalStack+"-PlantsTable-') || starts_with(@, '"+rehearsalStack+"-TokensTable-')]"))
}

// unprotectTables ends the tables' protection from deletion: a stack whose first deployment failed deletes them itself.
func (m *removal) unprotectTables(t *testing.T) {
	t.Helper()
	for _, table := range m.tables(t) {
		_, _ = m.run(t, "aws", "dynamodb", "wait", "table-exists", "--table-name", table) // AWS may take longer than one wait
		m.try(t, "dynamodb", "wait", "table-exists", "--table-name", table)
		m.try(t, "dynamodb", "update-table", "--table-name", table, "--no-deletion-protection-enabled")
	}
}

// removeStack deletes a stack, and waits for that unless something has failed.
func (m *removal) removeStack(t *testing.T, name string) {
	t.Helper()
	m.settle(t, name)
	m.try(t, "cloudformation", "delete-stack", "--stack-name", name)
	if m.failures == "" {
		m.try(t, "cloudformation", "wait", "stack-delete-complete", "--stack-name", name)
	}
	if m.failures != "" {
		resources, _ := m.run(t, "aws", "cloudformation", "describe-stack-resources", "--stack-name", name, "--output", "text",
			"--query", "StackResources[?ResourceStatus=='DELETE_FAILED'].[PhysicalResourceId,ResourceStatusReason]")
		m.failures += resources
	}
}

// removeLogs deletes log groups and dashboards. A stack whose deletion failed, or an update by GitHub's role, may have
// left them.
func (m *removal) removeLogs(t *testing.T) {
	t.Helper()
	for _, kind := range []struct{ list, remove string }{
		{"logs describe-log-groups --query logGroups[].logGroupName --log-group-name-prefix /aws/lambda/" + rehearsalStack, "logs delete-log-group --log-group-name"},
		{"logs describe-log-groups --query logGroups[].logGroupName --log-group-name-prefix /aws/vendedlogs/" + rehearsalStack, "logs delete-log-group --log-group-name"},
		{"cloudwatch list-dashboards --query DashboardEntries[].DashboardName --dashboard-name-prefix " + rehearsalStack, "cloudwatch delete-dashboards --dashboard-names"},
	} {
		names := m.try(t, append(strings.Fields(kind.list), "--output", "text")...)
		for name := range strings.FieldsSeq(names) {
			m.try(t, append(strings.Fields(kind.remove), name)...)
		}
	}
}

// removeTables deletes the tables.
func (m *removal) removeTables(t *testing.T) {
	t.Helper()
	for _, table := range m.tables(t) {
		m.try(t, "dynamodb", "wait", "table-exists", "--table-name", table)
		m.try(t, "dynamodb", "delete-table", "--table-name", table)
		m.try(t, "dynamodb", "wait", "table-not-exists", "--table-name", table)
	}
}

// removeUploads deletes all versions of what was uploaded below a prefix of SAM's bucket.
func (m *removal) removeUploads(t *testing.T, prefix string) {
	t.Helper()
	bucket := m.try(t, "cloudformation", "describe-stacks", "--stack-name", "aws-sam-cli-managed-default",
		"--query", "Stacks[0].Outputs[?OutputKey=='SourceBucket'].OutputValue", "--output", "text")
	if bucket == "" {
		return
	}
	versions := m.try(t, "s3api", "list-object-versions", "--bucket", bucket, "--prefix", prefix, "--output", "json",
		"--query", "{Objects: [Versions, DeleteMarkers][][].{Key: Key, VersionId: VersionId}}")
	if !strings.Contains(versions, "VersionId") {
		return
	}
	refused := m.try(t, "s3api", "delete-objects", "--bucket", bucket, "--delete", versions, "--query", "Errors")
	if refused != "null" {
		m.failures += "all versions below " + prefix + " in the bucket " + bucket + ": " + refused
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

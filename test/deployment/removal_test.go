package deployment

import (
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"
)

// remove removes what a rehearsal makes in an account. It returns the commands that failed, and why.
func (r *rehearsal) remove(t *testing.T) (left string) {
	t.Helper()
	fmt.Println("Removing what a rehearsal makes. In an account, this takes some minutes; after an interrupt, up to an hour.")
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
			left += "aws " + strings.Join(arguments, " ") + "\n" + output
		}
		return ""
	}
	stage := try("cloudformation", "describe-stacks", "--stack-name", rehearsalStack, "--query", "Stacks[0].Tags[?Key=='Stage'].Value", "--output", "text")
	if stage != "" && stage != "rehearsal" {
		return rehearsalStack + " is no stack of a rehearsal"
	}
	tables := func() iter.Seq[string] {
		return strings.FieldsSeq(try("dynamodb", "list-tables", "--output", "text",
			"--query", "TableNames[?starts_with(@, '"+rehearsalStack+"-PlantsTable-') || starts_with(@, '"+rehearsalStack+"-TokensTable-')]"))
	}
	r.settle(t, rehearsalStack)
	for table := range tables() { // a stack whose first deployment failed deletes them itself
		_, _ = r.run(t, "aws", "dynamodb", "wait", "table-exists", "--table-name", table) // a restore may take longer than one wait
		try("dynamodb", "wait", "table-exists", "--table-name", table)
		try("dynamodb", "update-table", "--table-name", table, "--no-deletion-protection-enabled")
	}
	for _, name := range []string{rehearsalStack, roleStack} {
		r.settle(t, name)
		try("cloudformation", "delete-stack", "--stack-name", name)
		if left == "" {
			try("cloudformation", "wait", "stack-delete-complete", "--stack-name", name)
		}
		if left != "" { // the tables are still those of a stack
			failed, _ := r.run(t, "aws", "cloudformation", "describe-stack-resources", "--stack-name", name, "--output", "text",
				"--query", "StackResources[?ResourceStatus=='DELETE_FAILED'].[PhysicalResourceId,ResourceStatusReason]")
			return left + failed
		}
	}
	// A stack whose deletion failed, or an update by GitHub's role, may have left these.
	for _, kind := range []struct{ list, remove string }{
		{"logs describe-log-groups --query logGroups[].logGroupName --log-group-name-prefix /aws/lambda/" + rehearsalStack, "logs delete-log-group --log-group-name"},
		{"logs describe-log-groups --query logGroups[].logGroupName --log-group-name-prefix /aws/vendedlogs/" + rehearsalStack, "logs delete-log-group --log-group-name"},
		{"cloudwatch list-dashboards --query DashboardEntries[].DashboardName --dashboard-name-prefix " + rehearsalStack, "cloudwatch delete-dashboards --dashboard-names"},
	} {
		for name := range strings.FieldsSeq(try(append(strings.Fields(kind.list), "--output", "text")...)) {
			try(append(strings.Fields(kind.remove), name)...)
		}
	}
	for table := range tables() {
		try("dynamodb", "wait", "table-exists", "--table-name", table)
		try("dynamodb", "delete-table", "--table-name", table)
		try("dynamodb", "wait", "table-not-exists", "--table-name", table)
	}
	bucket := try("cloudformation", "describe-stacks", "--stack-name", "aws-sam-cli-managed-default",
		"--query", "Stacks[0].Outputs[?OutputKey=='SourceBucket'].OutputValue", "--output", "text")
	for _, prefix := range []string{rehearsalStack + "/", "github/" + rehearsalStack + "/"} {
		if bucket == "" {
			continue
		}
		versions := try("s3api", "list-object-versions", "--bucket", bucket, "--prefix", prefix, "--output", "json",
			"--query", "{Objects: [Versions, DeleteMarkers][][].{Key: Key, VersionId: VersionId}}")
		if strings.Contains(versions, "VersionId") {
			if errors := try("s3api", "delete-objects", "--bucket", bucket, "--delete", versions, "--query", "Errors"); errors != "null" {
				left += "all versions below " + prefix + " in the bucket " + bucket + ": " + errors
			}
		}
	}
	return left
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

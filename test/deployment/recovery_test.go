package deployment

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// recoveryClaims are about what was lost.
var recoveryClaims = []claim{
	{name: "a plant that was deleted is brought back", show: func(r *rehearsal, t *testing.T) string {
		table := r.resource(t, stack, "PlantsTable")
		const plant = `{"id":-3,"name":"Lost"}`
		r.post(t, plant)
		at := time.Now().UTC().Truncate(time.Second).Add(time.Second)
		time.Sleep(time.Until(at))
		if r.isLocal { // it restores a table as it is now, so it does that before the loss, as if a run was stopped then
			r.must(t, "aws", "dynamodb", "restore-table-to-point-in-time", "--source-table-name", table,
				"--target-table-name", table+at.Format("-20060102T150405Z"), "--restore-date-time", at.Format(time.RFC3339))
		}
		r.must(t, "aws", "dynamodb", "delete-item", "--table-name", table, "--key", `{"id":{"N":"-3"}}`)
		began := time.Now()
		output := ""
		r.until(t, 15*time.Minute, func() bool { // a table can be restored to what it was five minutes ago
			output, _ = r.run(t, "deploy/restore", "--stack", stack, "--to", at.Format(time.RFC3339), "--yes")
			return !strings.Contains(output, "InvalidRestoreTime")
		})
		if !strings.Contains(output, "1 items added, 0 replaced;") {
			t.Errorf("deploy/restore prints %s, want one item added", output)
		}
		_, _, answer := r.post(t, plant)
		if !strings.HasPrefix(answer, `{"error":3001,`) {
			t.Errorf("%s, want the error 3001", answer)
		}
		return fmt.Sprintf("restored in %s: %s", time.Since(began).Round(time.Second), answer)
	}},
	{name: "a table that is gone is brought back with its settings", show: func(r *rehearsal, t *testing.T) string {
		table := r.resource(t, stack, "TokensTable")
		if r.isLocal { // in an account, DynamoDB makes a backup of its own when a table is deleted
			r.must(t, "aws", "dynamodb", "update-time-to-live", "--table-name", table, "--time-to-live-specification", "Enabled=true,AttributeName=expires_at")
			r.must(t, "aws", "dynamodb", "create-backup", "--table-name", table, "--backup-name", "rehearsal")
		}
		r.must(t, "aws", "dynamodb", "update-table", "--table-name", table, "--no-deletion-protection-enabled")
		r.must(t, "aws", "dynamodb", "wait", "table-exists", "--table-name", table)
		r.must(t, "aws", "dynamodb", "delete-table", "--table-name", table)
		r.must(t, "aws", "dynamodb", "wait", "table-not-exists", "--table-name", table)
		_, _, answer := r.post(t, `{"id":-6,"name":"Back"}`)
		if !strings.HasPrefix(answer, `{"error":500`) {
			t.Errorf("without the table of tokens: %s, want an error 500x", answer)
		}
		r.until(t, 15*time.Minute, func() bool {
			count := r.query(t, "length(BackupSummaries)", "dynamodb", "list-backups", "--backup-type", "ALL", "--table-name", table)
			return count != "0"
		})
		began := time.Now()
		output := r.must(t, "deploy/restore", "--stack", stack, "--tokens", "--backup", "--yes")
		took := time.Since(began).Round(time.Second)
		status, _, answer := r.post(t, `{"id":-6,"name":"Back"}`)
		if status != http.StatusOK {
			t.Errorf("afterwards: %d %s, want the plant", status, answer)
		}
		if protected := r.query(t, "Table.DeletionProtectionEnabled", "dynamodb", "describe-table", "--table-name", table); protected != "True" {
			t.Errorf("afterwards, the protection from deletion is %s, want True", protected)
		}
		return fmt.Sprintf("back in %s. %s", took, output[strings.LastIndex(output, "Tags:"):])
	}},
	{name: "deleting the stack keeps its tables", show: func(r *rehearsal, t *testing.T) string {
		r.post(t, kept)
		r.oldPlants, r.oldTokens = r.resource(t, stack, "PlantsTable"), r.resource(t, stack, "TokensTable")
		r.must(t, "aws", "cloudformation", "delete-stack", "--stack-name", stack)
		r.must(t, "aws", "cloudformation", "wait", "stack-delete-complete", "--stack-name", stack)
		if output, err := r.run(t, "aws", "cloudformation", "describe-stacks", "--stack-name", stack); err == nil {
			t.Errorf("after its deletion, the stack is %s", output)
		}
		for _, table := range []string{r.oldPlants, r.oldTokens} {
			if count := r.query(t, "Count", "dynamodb", "scan", "--table-name", table, "--select", "COUNT"); count == "0" {
				t.Errorf("%s is empty, want what was written", table)
			}
		}
		return r.oldPlants + ", " + r.oldTokens
	}},
	{name: "the stack is deployed again, and its plants and tokens are copied back", only: "a new stack gets the tables of the old one", show: func(r *rehearsal, t *testing.T) string {
		if r.dry {
			return ""
		}
		r.must(t, adminUploads, "BUILD=1111111 again", "deploy/stack", "rehearsal", "at-once")
		r.url = r.output(t, stack, "Url")
		r.must(t, "deploy/restore", "--stack", stack, "--from", r.oldPlants, "--older", "--yes")
		r.must(t, "deploy/restore", "--stack", stack, "--from", r.oldTokens, "--older", "--yes", "--tokens")
		_, _, answer := r.post(t, kept)
		r.want(t, strings.HasPrefix(answer, `{"error":3001,`), "%s, want the error 3001", answer)
		return answer
	}},
	{name: "what cannot be removed is listed with its command, and is removed when it can be", show: func(r *rehearsal, t *testing.T) string {
		protect := func(option string) {
			r.must(t, "aws", "cloudformation", "update-termination-protection", "--stack-name", roles, option)
		}
		protect("--enable-termination-protection")
		listed := r.remove(t)
		protect("--no-enable-termination-protection")
		if want := "aws cloudformation delete-stack --stack-name " + roles + "\n"; !strings.HasPrefix(listed, want) {
			t.Errorf("a protected stack is listed as %q, want %q", listed, want)
		}
		group := "/aws/lambda/" + stack
		r.must(t, "aws", "logs", "create-log-group", "--log-group-name", group) // as if the deletion of the stack had left it
		if left := r.remove(t); left != "" {
			t.Errorf("afterwards, this is left: %s", left)
		}
		groups := r.query(t, "logGroups[].logGroupName", "logs", "describe-log-groups", "--log-group-name-prefix", group)
		tables := r.query(t, "TableNames[?starts_with(@, '"+stack+"-')]", "dynamodb", "list-tables")
		if groups+tables != "" {
			t.Errorf("afterwards, there are %s %s", groups, tables)
		}
		return listed
	}},
}

const kept = `{"id":-4,"name":"Kept"}`

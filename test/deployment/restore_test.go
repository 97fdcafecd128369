package deployment

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// lossClaims are about lost plants, and a lost table.
var lossClaims = []claim{
	{name: "a plant that was deleted is brought back", check: func(r *rehearsal, t *testing.T) string {
		table := r.resource(t, rehearsalStack, "PlantsTable")
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
			output, _ = r.run(t, "deploy/restore", "--stack", rehearsalStack, "--to", at.Format(time.RFC3339), "--yes")
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
	{name: "a table that is gone is brought back with its settings", check: func(r *rehearsal, t *testing.T) string {
		table := r.resource(t, rehearsalStack, "TokensTable")
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
			count := r.query(t, "length(BackupSummaries[?BackupStatus=='AVAILABLE'])", "dynamodb", "list-backups", "--backup-type", "ALL", "--table-name", table)
			return count != "0"
		})
		began := time.Now()
		output := r.must(t, "deploy/restore", "--stack", rehearsalStack, "--tokens", "--backup", "--yes")
		took := time.Since(began).Round(time.Second)
		status, _, answer := r.post(t, `{"id":-6,"name":"Back"}`)
		if status != http.StatusOK {
			t.Errorf("afterwards: %d %s, want the plant", status, answer)
		}
		if !strings.Contains(output, "Expiry: expires_at.") {
			t.Errorf("deploy/restore prints %s, want the expiry", output)
		}
		if protected := r.query(t, "Table.DeletionProtectionEnabled", "dynamodb", "describe-table", "--table-name", table); protected != "True" {
			t.Errorf("afterwards, the protection from deletion is %s, want True", protected)
		}
		return fmt.Sprintf("back in %s. %s", took, output[strings.LastIndex(output, "Tags:"):])
	}},
}

// returnClaims are about what a deleted stack had.
var returnClaims = []claim{
	{name: "the stack is deployed again, and its plants and tokens are copied back", notLocal: "a new stack gets the tables of the old one", check: func(r *rehearsal, t *testing.T) string {
		if r.dry {
			return ""
		}
		r.must(t, adminUploads, "BUILD=1111111 again", "deploy/stack", "rehearsal", "at-once")
		r.url = r.output(t, rehearsalStack, "Url")
		r.must(t, "deploy/restore", "--stack", rehearsalStack, "--from", r.oldPlants, "--older", "--yes")
		r.must(t, "deploy/restore", "--stack", rehearsalStack, "--from", r.oldTokens, "--older", "--yes", "--tokens")
		_, _, answer := r.post(t, kept)
		r.expect(t, strings.HasPrefix(answer, `{"error":3001,`), "%s, want the error 3001", answer)
		return answer
	}},
}

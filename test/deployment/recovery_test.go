package deployment

import (
	"fmt"
	"net/http"
	"strconv"
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
		r.restorable(t, table, at)
		arguments := []string{"deploy/restore", "--stack", stack, "--to", at.Format(time.RFC3339), "--yes"}
		if r.isLocal { // it restores a table as it is now, so it does that before the loss, as if a run was stopped then
			r.must(t, "aws", "dynamodb", "restore-table-to-point-in-time", "--source-table-name", table,
				"--target-table-name", table+at.Format("-20060102T150405Z"), "--restore-date-time", at.Format(time.RFC3339))
		}
		r.must(t, "aws", "dynamodb", "delete-item", "--table-name", table, "--key", `{"id":{"N":"-3"}}`)
		began := time.Now()
		output := r.must(t, arguments...)
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
		r.must(t, "deploy/restore", "--stack", stack, "--tokens", "--backup", "--yes")
		status, _, answer := r.post(t, `{"id":-6,"name":"Back"}`)
		if status != http.StatusOK {
			t.Errorf("afterwards: %d %s, want the plant", status, answer)
		}
		arn := r.query(t, "Table.TableArn", "dynamodb", "describe-table", "--table-name", table)
		for _, setting := range []struct{ want, query, call, option, value string }{
			{want: "True", query: "Table.DeletionProtectionEnabled", call: "describe-table", option: "--table-name", value: table},
			{want: "rehearsal", query: "Tags[?Key=='Stage'].Value", call: "list-tags-of-resource", option: "--resource-arn", value: arn},
			{want: "expires_at", query: "TimeToLiveDescription.AttributeName", call: "describe-time-to-live", option: "--table-name", value: table},
			{
				want: "ENABLED", query: "ContinuousBackupsDescription.PointInTimeRecoveryDescription.PointInTimeRecoveryStatus",
				call: "describe-continuous-backups", option: "--table-name", value: table,
			},
		} {
			if got := r.query(t, setting.query, "dynamodb", setting.call, setting.option, setting.value); got != setting.want {
				t.Errorf("aws dynamodb %s: %s is %s, want %s", setting.call, setting.query, got, setting.want)
			}
		}
		return fmt.Sprintf("back in %s: %s", time.Since(began).Round(time.Second), answer)
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
		times := r.firstRequests(t)
		r.must(t, "deploy/restore", "--stack", stack, "--from", r.oldPlants, "--older", "--yes")
		r.must(t, "deploy/restore", "--stack", stack, "--from", r.oldTokens, "--older", "--yes", "--tokens")
		_, _, answer := r.post(t, kept)
		r.want(t, strings.HasPrefix(answer, `{"error":3001,`), "%s, want the error 3001", answer)
		return times + "; afterwards " + answer
	}},
}

// restorable waits until a table can be restored to a time: the latest such time lies five minutes back.
func (r *rehearsal) restorable(t *testing.T, table string, at time.Time) {
	t.Helper()
	if r.isLocal {
		time.Sleep(time.Until(at)) // it takes any time but one in the future
		return
	}
	r.until(t, 15*time.Minute, func() bool {
		latest := r.query(t, "ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime",
			"dynamodb", "describe-continuous-backups", "--table-name", table)
		moment, err := time.Parse(time.RFC3339, latest)
		if seconds, isNumber := strconv.ParseFloat(latest, 64); isNumber == nil { // of version 1 of the AWS CLI
			moment, err = time.Unix(int64(seconds), 0), nil
		}
		return err == nil && moment.After(at)
	})
}

const kept = `{"id":-4,"name":"Kept"}`

package deployment

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// recoveryClaims are about what was lost.
var recoveryClaims = []claim{
	{name: "a plant that was deleted is brought back", only: "it restores a table as it is now", show: func(r *rehearsal, t *testing.T) string {
		table := r.name(t, "PlantsTable")
		const plant = `{"id":-3,"name":"Lost"}`
		r.post(t, plant)
		at := time.Now().UTC().Add(30 * time.Second).Truncate(time.Second)
		r.until(t, 15*time.Minute, func() bool { // the latest time that can be restored lies five minutes back
			text := r.aws(t, "ContinuousBackupsDescription.PointInTimeRecoveryDescription.LatestRestorableDateTime",
				"dynamodb", "describe-continuous-backups", "--table-name", table)
			latest, err := time.Parse(time.RFC3339, text)
			if seconds, isNumber := strconv.ParseFloat(text, 64); isNumber == nil { // of version 1 of the AWS CLI
				latest, err = time.Unix(int64(seconds), 0), nil
			}
			return err == nil && latest.After(at)
		})
		r.aws(t, "Attributes", "dynamodb", "delete-item", "--table-name", table, "--key", `{"id":{"N":"-3"}}`)
		restored := stack + "-restored"
		began := time.Now()
		r.aws(t, "TableDescription.TableStatus", "dynamodb", "restore-table-to-point-in-time", "--source-table-name", table,
			"--target-table-name", restored, "--restore-date-time", at.Format(time.RFC3339))
		r.until(t, 2*time.Hour, func() bool {
			return r.aws(t, "Table.TableStatus", "dynamodb", "describe-table", "--table-name", restored) == "ACTIVE"
		})
		took := time.Since(began).Round(time.Second)
		if !r.dry {
			r.must(t, "deploy/restore", restored, table)
		}
		_, _, answer := r.post(t, plant)
		r.want(t, strings.HasPrefix(answer, `{"error":3001,`), "%s, want the error 3001", answer)
		return fmt.Sprintf("restored in %s: %s", took, answer)
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
		r.must(t, "deploy/restore", r.oldPlants, r.resource(t, stack, "PlantsTable"))
		r.must(t, "deploy/restore", r.oldTokens, r.resource(t, stack, "TokensTable"))
		_, _, answer := r.post(t, kept)
		r.want(t, strings.HasPrefix(answer, `{"error":3001,`), "%s, want the error 3001", answer)
		return times + "; afterwards " + answer
	}},
}

const kept = `{"id":-4,"name":"Kept"}`

package deploy

import (
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestRestore restores a table that has the plants 2 and 3 now, and had 1 and 2 before.
func TestRestore(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		options string
		setUp   func(a *restoreAWS)
		says    string
		pauses  string            // what it says of its pauses, if that matters
		want    map[string]string // the name of each plant, by id
	}{
		{
			name: "what is missing is added", options: "--to " + restoreTime,
			says: "by 'alice'\n1 items added, 0 replaced; 0 were there, 1 are there and differ\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
		{
			name: "a plant that differs is replaced if asked", options: "--overwrite --to " + restoreTime,
			says: "1 items added, 1 replaced; 0 were there, 0 are there and differ\n",
			want: map[string]string{"1": "before", "2": "before", "3": "now"},
		},
		{
			name: "a time of another zone", options: "--to 2026-01-31T13:00:00+01:00",
			says: "1 items added, 0 replaced; 0 were there, 1 are there and differ\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
		{
			name: "a plant that a client creates meanwhile stays", options: "--to " + restoreTime,
			setUp: func(a *restoreAWS) {
				a.first["BatchGetItem"] = []string{`{"Responses":{},"UnprocessedKeys":{}}`} // as it was before the client came
			},
			says: "1 items added, 0 replaced; 0 were there, 1 are there and differ\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
		{
			name: "what AWS leaves out of an answer for now is read and written again", options: "--overwrite --to " + restoreTime,
			setUp: func(a *restoreAWS) {
				left := `{"Responses":{},"UnprocessedKeys":{"` + a.table("plants") + `":{"Keys":[{"id":{"N":"1"}},{"id":{"N":"2"}}]}}}`
				a.first["BatchGetItem"] = []string{left}
				a.first["BatchExecuteStatement"] = []string{`{"Responses":[{"Error":{"Code":"ThrottlingError"}}]}`}
				left = `{"UnprocessedItems":{"` + a.table("plants") + `":[{"PutRequest":{"Item":{"id":{"N":"2"},"name":{"S":"before"}}}}]}}`
				a.first["BatchWriteItem"] = []string{left}
			},
			says:   "1 items added, 1 replaced; 0 were there, 0 are there and differ\n",
			pauses: "paused for 2.1", // a second for each answer, and less for the statement
			want:   map[string]string{"1": "before", "2": "before", "3": "now"},
		},
		{
			name: "an item with attributes of too long names is left out, and the others are added", options: "--from $strange --older",
			setUp: func(a *restoreAWS) {
				a.newPlants("strange", map[string]string{"1": "before"})
				a.putStrange("strange")
			},
			says: "1 items added, 0 replaced; 0 were there, 0 are there and differ\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
		{
			name: "the table of a deleted stack, which is older than that of the new one", options: "--from $older --older",
			setUp: func(a *restoreAWS) { a.newPlants("older", map[string]string{"1": "older", "2": "older"}) },
			says:  "1 items added, 0 replaced; 0 were there, 1 are there and differ\n",
			want:  map[string]string{"1": "older", "2": "now", "3": "now"},
		},
		{
			name: "the table of a deleted stack, after the test of the new one", options: "--from $older",
			setUp: func(a *restoreAWS) {
				a.newPlants("older", map[string]string{"1": "older"})
				a.put("plants", "2", "smoke-test")
				a.put("plants", "3", "older")
			},
			says: "1 items added, 0 replaced; 0 were there, 0 are there and differ\n",
			want: map[string]string{"1": "older", "2": "smoke-test", "3": "older"},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newRestoreAWS(t)
			if test.setUp != nil {
				test.setUp(a)
			}
			output, status := a.run(test.options + " --yes")
			if status != 0 || !strings.Contains(output, test.says) || !strings.Contains(output, test.pauses) {
				t.Errorf("restore ends with %d, and prints %s, want 0, %q and %q", status, output, test.says, test.pauses)
			}
			if got := a.plants(); !maps.Equal(got, test.want) {
				t.Errorf("afterwards the table has %v, want %v", got, test.want)
			}
		})
	}
}

// TestRestoreManyPlants copies two pages of plants of 8 KB. The first has over 100 of them. Each KB takes a write
// unit, and restore uses 1,000 of these a second.
func TestRestoreManyPlants(t *testing.T) {
	t.Parallel()
	a := newRestoreAWS(t)
	want := maps.Clone(plantsNow)
	a.before = map[string]string{}
	for i := range 150 {
		id := fmt.Sprint(100 + i)
		a.before[id] = strings.Repeat("n", 7500)
		want[id] = a.before[id]
	}
	output, status := a.run("--yes --to " + restoreTime)
	says := "\n150 items added, 0 replaced; 0 were there, 0 are there and differ\n"
	if status != 0 || !strings.Contains(output, says) || !strings.HasSuffix(output, "paused for 1.200 s\n") {
		t.Errorf("restore ends with %d, and prints %s, want 0, %q, and a second for 1,000 units", status, output, says)
	}
	if !maps.Equal(a.plants(), want) {
		t.Error("afterwards the table has other plants")
	}

	a.put("plants", "100", strings.Repeat("n", 9900)) // to replace it takes 10 units
	output, _ = a.run("--overwrite --yes --to " + restoreTime)
	says = "\n0 items added, 1 replaced; 149 were there, 0 are there and differ\n"
	if !strings.Contains(output, says) || !strings.HasSuffix(output, "paused for 0.010 s\n") {
		t.Errorf("restore prints %s, want %q, and a second for 1,000 units", output, says)
	}
	if !maps.Equal(a.plants(), want) {
		t.Error("afterwards the table has other plants")
	}
}

// TestRestoreUsage checks that what cannot be meant is refused before AWS is called.
func TestRestoreUsage(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, options, says string
	}{
		{name: "a time without a zone", options: "--to 2026-01-31T12:00:00 --yes", says: "is no time such as"},
		{name: "a time in the future", options: "--to 2999-01-31T12:00:00Z --yes", says: "is in the future"},
		{name: "no terminal and no --yes", options: "--to " + restoreTime, says: "add --yes"},
		{name: "neither a time nor a table", options: "--yes", says: "--to"},
		{name: "tokens are not overwritten", options: "--tokens --overwrite --yes --to " + restoreTime, says: "would make revoked tokens valid again"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			arguments := append([]string{"restore", "--stack", stackName}, strings.Fields(test.options)...)
			command := exec.CommandContext(t.Context(), processtest.Python(t, "sam"), arguments...)
			output, _ := command.CombinedOutput() // the error is in the status
			if status := command.ProcessState.ExitCode(); status != 2 || !strings.Contains(string(output), test.says) {
				t.Errorf("restore ends with %d, and prints %s, want 2 and %q", status, output, test.says)
			}
		})
	}
}

// TestRestoreFails checks that a run without a result says why, and leaves the plants as they are.
func TestRestoreFails(t *testing.T) {
	t.Parallel()
	const gone = "ResourceNotFoundException"
	tests := []struct {
		name    string
		options string
		setUp   func(a *restoreAWS)
		says    string
	}{
		{
			name: "a table of the same name is being restored to another time", options: "--to " + restoreTime,
			setUp: func(a *restoreAWS) { a.first["DescribeTable"] = []string{"", a.creating("plants", restoreSeconds+1)} },
			says:  "is no restore of",
		},
		{
			name: "a table of the same name is being restored from another table", options: "--to " + restoreTime,
			setUp: func(a *restoreAWS) { a.first["DescribeTable"] = []string{"", a.creating("tokens", restoreSeconds)} },
			says:  "is no restore of",
		},
		{
			name: "a time before the window", options: "--to " + restoreTime,
			setUp: func(a *restoreAWS) {
				a.first["RestoreTableToPointInTime"] = []string{"InvalidRestoreTimeException"}
			},
			says: "from 2026-01-01 00:00:00+00:00 to 2026-02-01 00:00:00+00:00\nAn error occurred (InvalidRestoreTimeException)",
		},
		{
			name: "a restore that does not end within 12 hours", options: "--to " + restoreTime,
			setUp: func(a *restoreAWS) {
				each := []string{a.creating("plants", restoreSeconds)}
				a.first["DescribeTable"] = append([]string{""}, slices.Repeat(each, 1000)...)
			},
			says: "after 12 hours, ",
		},
		{
			name: "AWS refuses a plant again and again", options: "--to " + restoreTime,
			setUp: func(a *restoreAWS) {
				each := []string{`{"Responses":[{"Error":{"Code":"ThrottlingError"}}]}`}
				a.first["BatchExecuteStatement"] = slices.Repeat(each, 20)
			},
			says: "again and again: ThrottlingError. Repeat the command to go on",
		},
		{
			name: "the stack's table is gone", options: "--to " + restoreTime,
			setUp: func(a *restoreAWS) { a.first["DescribeTable"] = []string{gone} },
			says:  "is gone: bring it back with --backup first",
		},
		{name: "a table of another kind", options: "--from $tokens", says: "has another key"},
		{name: "the stack's own table", options: "--from $plants", says: "is the stack's own table"},
		{name: "a table that does not exist", options: "--from no-table", says: "no-table does not exist"},
		{
			name: "a table that lacks the newest plants, if only by half a second", options: "--from $older",
			setUp: func(a *restoreAWS) { a.newPlants("older", map[string]string{"1": "older"}) },
			says:  "add --older",
		},
		{
			name: "an empty table, even if it may be older", options: "--from $empty --older",
			setUp: func(a *restoreAWS) { a.newPlants("empty", nil) },
			says:  "is empty",
		},
		{
			name: "a table that is being restored from another backup", options: "--backup another",
			setUp: func(a *restoreAWS) {
				a.first["DescribeTable"] = []string{`{"Table":{"TableStatus":"CREATING","RestoreSummary":{"SourceBackupArn":"` + newestBackup + `"}}}`}
			},
			says: "is being restored from another backup, " + newestBackup,
		},
		{
			name: "a backup of another table", options: "--backup " + newestBackup,
			setUp: func(a *restoreAWS) { a.first["DescribeTable"] = []string{gone} },
			says:  "is a backup of",
		},
		{
			name: "no backup", options: "--backup",
			setUp: func(a *restoreAWS) {
				a.first["DescribeTable"] = []string{gone}
				a.first["ListBackups"] = []string{`{"BackupSummaries":[]}`}
			},
			says: "has no finished backup in this account and region",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newRestoreAWS(t)
			if test.setUp != nil {
				test.setUp(a)
			}
			output, status := a.run(test.options + " --yes")
			if status != 1 || !strings.Contains(output, test.says) {
				t.Errorf("restore ends with %d, and prints %s, want 1 and %q", status, output, test.says)
			}
			if got := a.plants(); !maps.Equal(got, plantsNow) {
				t.Errorf("afterwards the table has %v, want %v", got, plantsNow)
			}
		})
	}
}

// TestRestoreGoesOn repeats a run that Ctrl-C stops while AWS restores, and whose credentials then end while it writes.
func TestRestoreGoesOn(t *testing.T) {
	t.Parallel()
	a := newRestoreAWS(t)
	a.first["DescribeTable"] = []string{"", "", a.creating("plants", restoreSeconds), "", a.creating("plants", restoreSeconds)}
	a.first["BatchExecuteStatement"] = []string{"ExpiredTokenException"}
	const repeat = "\nWhen the cause is removed, repeat the command: it goes on.\n"

	a.interrupted = true
	output, status := a.run("--yes --to " + restoreTime)
	if says := "is CREATING since 0 minutes\nstopped" + repeat; status != 1 || !strings.Contains(output, says) {
		t.Errorf("the first run ends with %d, and prints %s, want 1 and %q", status, output, says)
	}
	a.interrupted = false
	output, status = a.run("--yes --to " + restoreTime)
	if says := "(ExpiredTokenException) when calling the BatchExecuteStatement operation: refused" + repeat; status != 1 || !strings.Contains(output, says) {
		t.Errorf("the second run ends with %d, and prints %s, want 1 and %q", status, output, says)
	}
	output, status = a.run("--yes --to " + restoreTime)
	if says := "1 items added,"; status != 0 || !strings.Contains(output, says) {
		t.Errorf("the third run ends with %d, and prints %s, want 0 and %q", status, output, says)
	}
	if got, want := a.plants(), map[string]string{"1": "before", "2": "now", "3": "now"}; !maps.Equal(got, want) {
		t.Errorf("afterwards the table has %v, want %v", got, want)
	}
	if got := a.requests["RestoreTableToPointInTime"]; len(got) != 1 || !strings.Contains(got[0], fmt.Sprint(`"RestoreDateTime": `, restoreSeconds)) {
		t.Errorf("AWS was asked to restore with %q, want to be asked once", got)
	}
}

// TestRestoreAsks checks that nothing but the new table is written without a yes.
func TestRestoreAsks(t *testing.T) {
	t.Parallel()
	const nothing = "nothing was changed"
	tests := []struct {
		name, options, typed string
		isGone               bool     // the table
		asks, says           string   // before and after somebody types
		writes               []string // operations
	}{
		{
			name: "no", options: "--to " + restoreTime, typed: "n\n",
			asks: "add what it lacks?", says: nothing, writes: []string{"RestoreTableToPointInTime"},
		},
		{
			name: "return alone is a no", options: "--overwrite --to " + restoreTime, typed: "\n",
			asks: "add what it lacks, and replace what differs?", says: nothing, writes: []string{"RestoreTableToPointInTime"},
		},
		{
			name: "yes", options: "--to " + restoreTime, typed: "y\n",
			asks: "add what it lacks?", says: "1 items added", writes: []string{"BatchExecuteStatement", "RestoreTableToPointInTime"},
		},
		{
			name: "no to a backup", options: "--tokens --backup", typed: "n\n", isGone: true,
			asks: "back from it?", says: nothing,
		},
		{
			name: "no to the settings of a table", options: "--tokens --backup", typed: "n\n",
			asks: "Set its tags, protection from deletion, expiry and point-in-time recovery?", says: nothing,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newRestoreAWS(t)
			a.typed = test.typed
			if test.isGone {
				a.first["DescribeTable"] = []string{"ResourceNotFoundException"}
			}
			output, _ := a.run(test.options) // its text says what happened
			if _, after, asks := strings.Cut(output, test.asks+" [y/N] "); !asks || !strings.Contains(after, test.says) {
				t.Errorf("restore prints %s, want %q, and then %q", output, test.asks, test.says)
			}
			if strings.Contains(test.options, "--to ") && !strings.Contains(output, "aws dynamodb delete-table --table-name ") {
				t.Errorf("restore prints %s, want how to delete the restored table", output)
			}
			reads := []string{"BatchGetItem", "DescribeBackup", "DescribeContinuousBackups", "DescribeTable", "ListBackups", "Scan"}
			writes := slices.DeleteFunc(slices.Sorted(maps.Keys(a.requests)), func(operation string) bool { return slices.Contains(reads, operation) })
			if !slices.Equal(writes, test.writes) {
				t.Errorf("restore writes with %q, want %q", writes, test.writes)
			}
		})
	}
}

// TestRestoreBackup brings a table back that is gone, and sets it up. The first run is refused its last call. The
// second finds a table that does not show where it comes from, and that DynamoDB has made a moment ago.
func TestRestoreBackup(t *testing.T) {
	t.Parallel()
	a := newRestoreAWS(t)
	a.first["DescribeTable"] = []string{"ResourceNotFoundException"}
	a.first["UpdateContinuousBackups"] = []string{"AccessDeniedException", "ContinuousBackupsUnavailableException"}
	output, status := a.run("--tokens --backup --yes")
	if status != 1 || !strings.Contains(output, "repeat the command") {
		t.Errorf("restore ends with %d, and prints %s, want 1, and to be told to repeat", status, output)
	}
	output, status = a.run("--tokens --backup --yes")
	says := "Tags: Project=plant-store, Stage=test. Expiry: expires_at. Write units a second: None.\n"
	if status != 0 || !strings.Contains(output, says) {
		t.Errorf("restore ends with %d, and prints %s, want 0 and %q", status, output, says)
	}
	tests := []struct{ operation, want string }{
		{operation: "ListBackups", want: `"BackupType": "ALL"`},
		{operation: "RestoreTableFromBackup", want: `"BackupArn": "` + newestBackup + `", "OnDemandThroughputOverride": {"MaxWriteRequestUnits": 7}`},
		{operation: "UpdateTable", want: `"DeletionProtectionEnabled": true`},
		{operation: "TagResource", want: `"Tags": [{"Key": "Project", "Value": "plant-store"}, {"Key": "Stage", "Value": "test"}]`},
		{operation: "UpdateTimeToLive", want: `"TimeToLiveSpecification": {"Enabled": true, "AttributeName": "expires_at"}`},
		{operation: "UpdateContinuousBackups", want: `"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": true}`},
	}
	for _, test := range tests {
		if got := a.requests[test.operation]; len(got) == 0 || !strings.Contains(got[0], test.want) {
			t.Errorf("the requests for %s are %q, want %s", test.operation, got, test.want)
		}
	}
}

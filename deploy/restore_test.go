package deploy

import (
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/test/processtest"
)

// TestRestore restores a table that has the plants 2 and 3 now, and had 1 and 2 before.
func TestRestore(t *testing.T) {
	for _, test := range []struct {
		name    string
		options []string
		setUp   func(t *testing.T, a *restoreAWS)
		says    string
		want    map[string]string // the name of each plant by its id
	}{
		{
			name: "what is missing is added",
			says: "1 items added, 0 replaced; 0 were there, 1 are there and differ\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
		{
			name: "a plant that differs is replaced if asked", options: []string{"--overwrite"},
			says: "1 items added, 1 replaced; 0 were there, 0 are there and differ\n",
			want: map[string]string{"1": "before", "2": "before", "3": "now"},
		},
		{
			name: "a plant that a client creates meanwhile stays",
			setUp: func(_ *testing.T, a *restoreAWS) {
				var reads atomic.Int32
				a.answer(func(operation string) string {
					if operation != "BatchGetItem" || reads.Add(1) > 1 {
						return ""
					}
					return `{"Responses":{},"UnprocessedKeys":{}}` // as it was before the client came
				})
			},
			says: "1 items added, 0 replaced; 0 were there, 1 are there and differ\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
		{
			name: "what AWS leaves out of an answer for now is read and written again",
			setUp: func(_ *testing.T, a *restoreAWS) {
				var reads, writes atomic.Int32
				a.answer(func(operation string) string {
					switch {
					case operation == "BatchGetItem" && reads.Add(1) == 1:
						return `{"Responses":{},"UnprocessedKeys":{"` + a.plants + `":{"Keys":[{"id":{"N":"1"}},{"id":{"N":"2"}}]}}}`
					case operation == "BatchExecuteStatement" && writes.Add(1) == 1:
						return `{"Responses":[{"Error":{"Code":"ThrottlingError"}}]}`
					}
					return ""
				})
			},
			says: "1 items added, 0 replaced; 0 were there, 1 are there and differ\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
		{
			name: "the table that an earlier run restored is used, when AWS has made it",
			setUp: func(t *testing.T, a *restoreAWS) {
				a.restore(t)
				a.refuse("RestoreTableToPointInTime", "TableAlreadyExistsException")
				a.creating.Store(3) // answers
			},
			says: "is CREATING since 0 minutes\n",
			want: map[string]string{"1": "before", "2": "now", "3": "now"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newRestoreAWS(t)
			if test.setUp != nil {
				test.setUp(t, a)
			}
			output, err := a.run(t, append(test.options, "--to", at, "--yes")...)
			if err != nil || !strings.Contains(output, test.says) {
				t.Errorf("restore = %v, %s, want %q", err, output, test.says)
			}
			if strings.Contains(output, a.plants+" has ") {
				t.Errorf("restore counts the whole table of the stack, which only --from needs: %s", output)
			}
			if got := a.names(t, a.plants); !maps.Equal(got, test.want) {
				t.Errorf("afterwards the table has %v, want %v", got, test.want)
			}
		})
	}
}

// TestRestoreUsage checks that what cannot be meant is refused before AWS is called.
func TestRestoreUsage(t *testing.T) {
	for _, test := range []struct {
		name, options, says string
	}{
		{"a time without a zone", "--to 2026-01-31T12:00:00 --yes", "is no time such as"},
		{"a time in the future", "--to 2999-01-31T12:00:00Z --yes", "is in the future"},
		{"no terminal and no --yes", "--to " + at, "add --yes"},
		{"neither a time nor a table", "--yes", "--to"},
		{"a rate below a write unit a second", "--rate 0 --yes --to " + at, "--rate is 1 or more"},
		{"tokens are not overwritten", "--tokens --overwrite --yes --to " + at, "would make revoked tokens valid again"},
	} {
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
	for _, test := range []struct {
		name    string
		options []string // in place of --to and --yes
		stack   string   // another one
		setUp   func(t *testing.T, a *restoreAWS)
		says    string
	}{
		{
			name: "a table of the same name is being restored to another time",
			setUp: func(t *testing.T, a *restoreAWS) {
				a.restore(t)
				a.creating.Store(3)
				a.isRestored(a.summaryOf(a.plants, "2026-01-31T12:00:01Z"))
			},
			says: "is no restore of",
		},
		{
			name: "a table of the same name is being restored from another table",
			setUp: func(t *testing.T, a *restoreAWS) {
				a.restore(t)
				a.creating.Store(3)
				a.isRestored(a.summaryOf(a.tokens, at))
			},
			says: "is no restore of",
		},
		{
			name: "a time before the window",
			setUp: func(_ *testing.T, a *restoreAWS) {
				a.refuse("RestoreTableToPointInTime", "InvalidRestoreTimeException")
			},
			says: "from 2026-01-01 00:00:00+00:00 to 2026-02-01 00:00:00+00:00\nAn error occurred (InvalidRestoreTimeException)",
		},
		{
			name: "AWS refuses a single plant",
			setUp: func(_ *testing.T, a *restoreAWS) {
				a.answer(func(operation string) string {
					if operation != "BatchExecuteStatement" {
						return ""
					}
					return `{"Responses":[{"Error":{"Code":"ValidationError"}}]}`
				})
			},
			says: "refuses an item: {'ValidationError'}",
		},
		{name: "the restored table is empty", setUp: func(_ *testing.T, a *restoreAWS) { a.before = nil }, says: "is empty"},
		{name: "a wrong stack", stack: "plant-store-other", says: "Stack 'plant-store-other' does not exist"},
		{
			name:  "the stack's table is gone",
			setUp: func(_ *testing.T, a *restoreAWS) { a.refuse("DescribeTable", "ResourceNotFoundException") },
			says:  "is gone: bring it back with --backup first",
		},
		{name: "a table of another kind", options: []string{"--from", "tokens", "--yes"}, says: "has another key"},
		{name: "the stack's own table", options: []string{"--from", "plants", "--yes"}, says: "is the stack's own table"},
		{name: "a table that does not exist", options: []string{"--from", "no-table", "--yes"}, says: "no-table does not exist"},
		{name: "a table without the newest plants", options: []string{"--from", "older", "--yes"}, says: "add --older"},
		{name: "an empty table, even if it may be older", options: []string{"--from", "empty", "--yes", "--older"}, says: "is empty"},
		{
			name: "a table that is being restored from another backup", options: []string{"--tokens", "--backup", "another", "--yes"},
			setUp: func(_ *testing.T, a *restoreAWS) {
				a.creating.Store(3)
				a.isRestored(map[string]any{"SourceBackupArn": newestBackup, "RestoreDateTime": 2, "RestoreInProgress": true})
			},
			says: "is being restored from another backup, " + newestBackup,
		},
		{
			name: "a backup of another table", options: []string{"--backup", newestBackup, "--yes"},
			setUp: func(_ *testing.T, a *restoreAWS) { a.refuse("DescribeTable", "ResourceNotFoundException") },
			says:  "is a backup of",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newRestoreAWS(t)
			if test.setUp != nil {
				test.setUp(t, a)
			}
			options := test.options
			if options == nil {
				options = []string{"--to", at, "--yes"}
			}
			if test.stack != "" {
				a.stack = test.stack
			}
			output, err := a.run(t, a.named(t, options)...)
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(output, test.says) {
				t.Errorf("restore = %v, %s, want the exit status 1 and %q", err, output, test.says)
			}
			if got := a.names(t, a.plants); !maps.Equal(got, now) {
				t.Errorf("afterwards the table has %v, want %v", got, now)
			}
		})
	}
}

// TestRestoreGoesOn checks that a run that was stopped can be repeated.
func TestRestoreGoesOn(t *testing.T) {
	for _, test := range []struct {
		name   string
		stop   func(a *restoreAWS, kill func())
		signal os.Signal // of kill
		says   string
	}{
		{
			name: "credentials end while it writes",
			stop: func(a *restoreAWS, _ func()) { a.refuse("BatchExecuteStatement", "ExpiredTokenException") },
			says: "(ExpiredTokenException) when calling the BatchExecuteStatement operation: refused\n" +
				"When the cause is removed, repeat the command: it goes on.\n",
		},
		{
			name:   "somebody presses Ctrl-C while it writes",
			stop:   func(a *restoreAWS, kill func()) { a.meanwhile("BatchExecuteStatement", kill) },
			signal: os.Interrupt,
			says:   "\nstopped\nWhen the cause is removed, repeat the command: it goes on.\n",
		},
		{
			name:   "it is killed while it writes",
			stop:   func(a *restoreAWS, kill func()) { a.meanwhile("BatchExecuteStatement", kill) },
			signal: os.Kill,
		},
		{
			name: "it is killed while AWS restores",
			stop: func(a *restoreAWS, kill func()) {
				a.creating.Store(5)
				a.answer(func(operation string) string {
					if operation == "DescribeTable" && a.creating.Load() < 3 {
						kill()
					}
					return ""
				})
			},
			signal: os.Kill,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := newRestoreAWS(t)
			ctx, cancel := context.WithCancel(t.Context())
			command := a.command(ctx, t, "--to", at, "--yes")
			command.Cancel = func() error { return command.Process.Signal(test.signal) }
			command.WaitDelay = time.Minute // until it is killed if it ignores the signal
			ended := make(chan struct{})
			test.stop(a, func() { cancel(); <-ended })
			output, err := command.CombinedOutput()
			close(ended)
			if err == nil || !strings.HasSuffix(string(output), test.says) {
				t.Errorf("the first run = %v, %s, want a failure and %q", err, output, test.says)
			}
			a.answer(nil)
			again, err := a.run(t, "--to", at, "--yes")
			if want := " 1 are there and differ\n"; err != nil || !strings.Contains(again, want) {
				t.Errorf("the second run = %v, %s, want %q", err, again, want)
			}
			if got, want := a.names(t, a.plants), map[string]string{"1": "before", "2": "now", "3": "now"}; !maps.Equal(got, want) {
				t.Errorf("afterwards the table has %v, want %v", got, want)
			}
			if a.restores.Load() != 1 {
				t.Errorf("AWS was asked %d times to restore, want once", a.restores.Load())
			}
		})
	}
}

// TestRestoreFromTable copies the table of a deleted stack, which is older than that of the new one.
func TestRestoreFromTable(t *testing.T) {
	t.Parallel()
	a := newRestoreAWS(t)
	output, err := a.run(t, a.named(t, []string{"--from", "older", "--older", "--yes"})...)
	if says := "1 items added, 0 replaced; 0 were there, 1 are there and differ\n"; err != nil || !strings.HasSuffix(output, says) {
		t.Errorf("restore = %v, %s, want %q", err, output, says)
	}
	if got, want := a.names(t, a.plants), map[string]string{"1": "older", "2": "now", "3": "now"}; !maps.Equal(got, want) {
		t.Errorf("afterwards the table has %v, want %v", got, want)
	}
}

// TestRestoreAsks checks that nothing is written without a yes, and that the restored table is named either
// way. A terminal passes the answer on.
func TestRestoreAsks(t *testing.T) {
	for _, test := range []struct {
		answer string
		says   string
		want   map[string]string
	}{
		{answer: "n\n", says: "nothing was changed", want: now},
		{answer: "\n", says: "nothing was changed", want: now},
		{answer: "y\n", says: "1 items added", want: map[string]string{"1": "before", "2": "now", "3": "now"}},
	} {
		t.Run(test.answer, func(t *testing.T) {
			t.Parallel()
			a := newRestoreAWS(t)
			command := a.command(t.Context(), t, "--to", at)
			const terminal = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))"
			command.Args = append([]string{command.Path, "-c", terminal}, command.Args...)
			command.Stdin = strings.NewReader(test.answer)
			output, _ := command.CombinedOutput() // its text says what happened
			if !strings.Contains(string(output), "add what it lacks? [y/N]") || !strings.Contains(string(output), test.says) {
				t.Errorf("restore prints %s, want %q", output, test.says)
			}
			if !strings.Contains(string(output), "aws dynamodb delete-table --table-name ") {
				t.Errorf("restore prints %s, want how to delete the restored table", output)
			}
			if got := a.names(t, a.plants); !maps.Equal(got, test.want) {
				t.Errorf("afterwards the table has %v, want %v", got, test.want)
			}
		})
	}
}

// TestRestoreBackup brings a table back that is gone, and sets it up. The first run is refused its last call. The
// second finds a table that does not show where it comes from, and that DynamoDB has made a moment ago.
func TestRestoreBackup(t *testing.T) {
	t.Parallel()
	a := newRestoreAWS(t)
	a.delete(t, a.tokens)
	t.Cleanup(func() { a.unprotect(t, a.tokens) })
	a.refuse("UpdateContinuousBackups", "AccessDeniedException")
	if output, err := a.run(t, "--tokens", "--backup", "--yes"); err == nil || !strings.Contains(output, "repeat the command") {
		t.Errorf("restore = %v, %s, want to be told to repeat", err, output)
	}
	var calls atomic.Int32
	a.answer(func(operation string) string {
		if operation == "UpdateContinuousBackups" && calls.Add(1) == 1 {
			return "ContinuousBackupsUnavailableException"
		}
		return ""
	})
	output, err := a.run(t, "--tokens", "--backup", "--yes")
	says := "Tags: Project=plant-store, Stage=test. Expiry: expires_at. Write units a second: 7.\n"
	if err != nil || !strings.HasSuffix(output, says) {
		t.Errorf("restore = %v, %s, want %q", err, output, says)
	}
	for operation, want := range map[string]string{
		"RestoreTableFromBackup":  `"OnDemandThroughputOverride":{"MaxWriteRequestUnits":7}`,
		"UpdateTable":             `"DeletionProtectionEnabled":true`,
		"TagResource":             `"Tags":[{"Key":"Project","Value":"plant-store"},{"Key":"Stage","Value":"test"}]`,
		"UpdateTimeToLive":        `"TimeToLiveSpecification":{"AttributeName":"expires_at","Enabled":true}`,
		"UpdateContinuousBackups": `"PointInTimeRecoverySpecification":{"PointInTimeRecoveryEnabled":true}`,
	} {
		if got := a.requested(operation); !strings.Contains(got, want) {
			t.Errorf("%s was called with %s, want %s", operation, got, want)
		}
	}
	if got := a.requested("RestoreTableFromBackup"); !strings.Contains(got, newestBackup) {
		t.Errorf("the restore is of %s, want the newest backup", got)
	}
}

// TestRestoreLimits runs functions of restore with stand-ins for the clock and for DynamoDB.
func TestRestoreLimits(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/restore.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rate, _ := strings.Cut(string(page), "\nIt uses ")
	rate, _, _ = strings.Cut(rate, " write units a second")
	for _, test := range []struct {
		name, script, want string
	}{
		{
			name: "plants of 100 and of 3,000 bytes are added with 2 write units a second",
			script: `copy(2).copy([plant(1, 100), plant(2, 3000)], Counter())
print(waits)`,
			want: "[2.0]",
		},
		{
			name: "plants are replaced with 2 write units a second, which the larger of both needs",
			script: `target.update(numbered([plant(1, 100), plant(2, 3000)]))
copy(2, overwrite=True).copy([plant(1, 3001), plant(2, 99)], Counter())
print(waits)`,
			want: "[1.5, 1.5]",
		},
		{
			name: "the command waits 12 hours for a restore that does not end",
			script: `try:
    restore["wait"]("table")
except restore["Failure"] as failure:
    print(failure)`,
			want: "after 12 hours, table is still CREATING: repeat the command to wait longer",
		},
		{
			name: "each of 8,000 plants is counted and copied once, in whatever part, page and batch it is",
			script: `source.update(numbered(plant(i, 1) for i in range(8000)))
restore["look"]("from")
counts = sum(restore["in_threads"](copy(1_000_000).part, "copied"), Counter())
print(messages, dict(+counts), target == source)`,
			want: "['from has 8000 items'] {'added': 8000} True",
		},
		{
			name: "the default rate is that of the emergency page",
			script: `restore["sys"].argv = ["restore", "--stack", "s", "--from", "t", "--yes"]
print(f"{restore['parse']().rate:,}")`,
			want: rate,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			output, err := exec.CommandContext(t.Context(), processtest.Python(t, "sam"), "-c", standIns+test.script).CombinedOutput()
			if err != nil || string(output) != test.want+"\n" {
				t.Errorf("%v, %s, want %s", err, output, test.want)
			}
		})
	}
}

// standIns is Python that loads restore, with a clock that only sleep moves, and with tables in memory. Each part
// of a table comes in pages of 120 items.
const standIns = `
from collections import Counter
from types import SimpleNamespace as Names

restore = {"__name__": "restore"}
exec(open("restore").read(), restore)
clock, waits, messages, source, target = [0], [], [], {}, {}

def sleep(seconds):
    if seconds:
        waits.append(seconds)
    clock[0] += seconds

def plant(id, size):
    return {"id": {"N": str(id)}, "name": {"S": "n" * size}}

def numbered(plants):
    return {plant["id"]["N"]: plant for plant in plants}

def copy(rate, overwrite=False):
    table = {"TableName": "from", "KeySchema": [{"AttributeName": "id"}]}
    return restore["Copy"](table, {"TableName": "to"}, Names(overwrite=overwrite, rate=rate))

def paginate(Segment, TotalSegments, **_):
    part = [plant for id, plant in source.items() if int(id) % TotalSegments == Segment]
    for start in range(0, len(part), 120):
        yield {"Items": part[start:start + 120]}

def read(RequestItems):
    ids = [key["id"]["N"] for key in RequestItems["to"]["Keys"]]
    return {"Responses": {"to": [target[id] for id in ids if id in target]}, "UnprocessedKeys": {}}

def insert(Statements):
    for statement in Statements:
        id, name = statement["Parameters"]
        target[id["N"]] = {"id": id, "name": name}
    return {"Responses": [{} for _ in Statements]}

restore["time"] = Names(monotonic=lambda: clock[0], sleep=sleep)
restore["say"] = messages.append
restore["client"] = Names(
    batch_execute_statement=insert, batch_get_item=read,
    describe_table=lambda TableName: {"Table": {"TableStatus": "CREATING"}},
    get_paginator=lambda operation: Names(paginate=paginate),
    put_item=lambda **_: None,
)
`

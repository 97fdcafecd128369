package deploy

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plantstore/internal/dynamo"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// TestRevoke runs the commands of docs/emergencies.md that revoke tokens.
func TestRevoke(t *testing.T) {
	if _, err := exec.LookPath("aws"); err != nil {
		processtest.Lacks(t, "the AWS CLI: see CONTRIBUTING.md, Tools")
	}
	page, err := os.ReadFile("../docs/emergencies.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Tokens leaked\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := strings.Split(section, "```") // every second one is a block of commands
	if len(blocks) != 5 {
		t.Fatalf("the section has %d parts, want two blocks of commands", len(blocks))
	}
	one := strings.TrimPrefix(blocks[1], "sh\n")
	many := strings.TrimPrefix(blocks[3], "sh\n")
	const alice, since = "subject = :s", "created_at >= :s"
	for _, test := range []struct {
		name     string
		commands string
		revoked  []bool // of the tokens below
	}{
		{name: "one", commands: strings.ReplaceAll(one, `"ID"`, `"before"`), revoked: []bool{false, false, true, false}},
		{name: "those of a subject", commands: many, revoked: []bool{true, true, true, false}},
		{
			name: "those since a date", commands: strings.NewReplacer(alice, since, "alice", "2026-11-20").Replace(many),
			revoked: []bool{true, true, false, true},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			client, _, table := dynamotest.Tables(t)
			store := &dynamo.Tokens{Client: client, Table: table}
			day := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
			tokens := []token.Token{ // a thief may choose an id
				{ID: `- and 'more\`, Subject: "alice", CreatedAt: day},
				{ID: `--help"`, Subject: "alice", CreatedAt: day},
				{ID: "before", Subject: "alice", CreatedAt: day.Add(-time.Second)},
				{ID: "of another", Subject: "bob", CreatedAt: day},
			}
			for _, issued := range tokens {
				issued.Digest = "d"
				issued.ExpiresAt = time.Now().Add(time.Hour)
				if err := store.Add(t.Context(), issued); err != nil {
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(t.Context(), "bash", "-c", "set -euo pipefail\n"+test.commands)
			command.Env = append(os.Environ(), processtest.Environment(dynamotest.Endpoint(t), "tokens="+table, "AWS_DEFAULT_REGION=us-east-1")...)
			if output, err := command.CombinedOutput(); err != nil || len(output) > 0 {
				t.Errorf("%s: %v, %s, want no output", test.commands, err, output)
			}
			for i, want := range test.revoked {
				found, err := store.Find(t.Context(), tokens[i].ID)
				if err != nil || found.Revoked != want {
					t.Errorf("the token %s is revoked: %t, %v, want %t", tokens[i].ID, found.Revoked, err, want)
				}
			}
		})
	}
}

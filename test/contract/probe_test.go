package contract

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// `make contract URL=...` writes one plant for each subject, and fails if it does not get it. These
// runs are one after the other.
func TestProbe(t *testing.T) {
	t.Parallel()
	s := serve(t)
	const passes, isRefused = "PASS", `"error":3001`
	tests := []struct {
		name    string
		subject string // of the token
		given   string // in SUBJECT
		plants  int32  // in the table afterwards
		prints  string
	}{
		{name: "the first run", subject: "ann", given: "ann", plants: 1, prints: passes},
		{name: "a second run with another token", subject: "ann", given: "ann", plants: 1, prints: passes},
		{name: "the subject of somebody else", subject: "bob", given: "ann", plants: 1, prints: isRefused},
		{name: "another subject", subject: "bob", given: "bob", plants: 2, prints: passes},
		{name: "no SUBJECT", subject: "bob", plants: 3, prints: passes},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestContract$")
			bearer := issue(t, s.tokens, test.subject)
			run.Env = append(os.Environ(), "CONTRACT_URL="+s.url, "TOKEN="+bearer, "SUBJECT="+test.given, "WRITES=", "OTHER_TOKEN=")
			out, err := run.CombinedOutput()
			if (err == nil) != (test.prints == passes) || !strings.Contains(string(out), test.prints) {
				t.Errorf("the run ends with %v and prints %s, want %q", err, out, test.prints)
			}
			stored, err := s.database.Scan(t.Context(), &dynamodb.ScanInput{TableName: &s.plants})
			if err != nil {
				t.Fatal(err)
			}
			if stored.Count != test.plants {
				t.Errorf("the table has %d plants, want %d", stored.Count, test.plants)
			}
		})
	}
}

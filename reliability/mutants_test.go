package reliability

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/internal/processtest"
)

// mutant is the code broken on purpose in one place, and the test that must
// notice.
type mutant struct {
	what             string
	file, from, into string
	test             string // package and test
}

func mutants() []mutant {
	return []mutant{
		{"the put has no condition", "internal/dynamo/plants.go", `"attribute_not_exists(id)"`, `"attribute_not_exists(nothing)"`, "./internal/dynamo TestPlantStore"},
		{"the write key ignores the subject", "internal/plant/store.go", "message = append(message, subject...)", "", "./internal/plant TestNewWriteKey"},
		{"the write key is the same for every request", "internal/api/createplant.go", "c.idempotencyKey = newKey()", `c.idempotencyKey = "k"`, "./contract TestContract"},
		{"one's own write is not recognised", "internal/dynamo/plants.go", "!ok || key.Value != w.Key.String()", "!ok || key != nil", "./reliability TestNoFaultMakesAFalseAnswer"},
		{"another plant under the same key is success", "internal/dynamo/plants.go", "!p.Equal(w.Plant)", `p.Name == ""`, "./internal/dynamo TestPlantStore"},
		{"no tag is the same as an empty one", "internal/dynamo/plants.go", "`dynamodbav:\"tag,omitempty\"`", "`dynamodbav:\"tag\"`", "./internal/dynamo TestItems"},
		{"an unknown outcome is success", "internal/dynamo/retry.go", `return fmt.Errorf("%w: %s: %w", mayBeThere, operation, err)`, "return nil", "./reliability TestNoFaultMakesAFalseAnswer"},
		{"an unknown outcome is a refusal", "internal/dynamo/retry.go", "a.mayBeThere || unknown", "false", "./reliability TestNoFaultMakesAFalseAnswer"},
		{"a refusal is an unknown outcome", "internal/dynamo/retry.go", "answer.HTTPStatusCode()/100 == 4", "false", "./internal/dynamo TestOutcome"},
		{"three attempts and no more", "internal/dynamo/retry.go", "MaxAttempts() int { return 0 }", "MaxAttempts() int { return 3 }", "./reliability TestNoFaultMakesAFalseAnswer"},
		{"an unreadable answer is not asked for again", "internal/dynamo/retry.go", "return aws.TrueTernary", "return aws.UnknownTernary", "./reliability TestNoFaultMakesAFalseVerdict"},
		{"an attempt may last for ever", "internal/dynamo/client.go", "attemptTimeout = 2 * time.Second", "attemptTimeout = time.Hour", "./reliability TestNoFaultMakesAFalseAnswer"},
		{"long waits between attempts", "internal/dynamo/retry.go", "maxDelay = 200 * time.Millisecond", "maxDelay = 20 * time.Second", "./internal/dynamo TestDelay"},
		{"no margin before the deadline", "internal/api/invoke.go", "deadline.Add(-margin)", "deadline", "./reliability TestNoFaultMakesAFalseAnswer"},
		{"an expired token opens", "internal/token/store.go", "t.Expired(now)", "false", "./internal/token TestVerify"},
		{"a token is read without consistency", "internal/dynamo/tokens.go", "Key:            tokenKey(digest),\n\t\tConsistentRead: aws.Bool(true),", "Key: tokenKey(digest),", "./internal/dynamo TestFindReadsConsistently"},
		{"tokens that cannot be read are denied", "internal/api/verdict.go", `Verdict: "unavailable"`, `Verdict: "deny", Reason: "invalid"`, "./reliability TestNoFaultMakesAFalseVerdict"},
		{"a verdict serves another caller", "internal/api/verdict.go", "v.Presented != token.Digest(authorization)", `v.Presented == ""`, "./internal/api TestCreatePlantAuthentication"},
		{"an unknown verdict allows", "internal/api/verdict.go", `return errors.New("api: unknown verdict")`, "return nil", "./internal/api TestCreatePlantAuthentication"},
		{"the key to repeat with is not told", "internal/api/createplant.go", `r.Headers["idempotency-key"] = idempotencyKey`, "", "./reliability TestNoFaultMakesAFalseAnswer"},
		{"a client that leaves stops the function", "internal/gateway/gateway.go", "context.WithoutCancel(r.Context())", "r.Context()", "./internal/gateway TestClientGoesAway"},
		{"the server stops without waiting", "cmd/plantstore/serve.go", "return server.Shutdown(ctx)", "_ = ctx\n\treturn server.Close()", "./reliability TestServeStopsUnderLoad"},
	}
}

// Every mutant is noticed by the test that docs/reliability.md names for it.
func TestMutantsAreCaught(t *testing.T) {
	if os.Getenv("SOAK") == "" {
		t.Skip("skipped: `make soak` runs this")
	}
	document, err := os.ReadFile("../docs/reliability.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants() {
		t.Run(m.what, func(t *testing.T) {
			folder, test, _ := strings.Cut(m.test, " ")
			if row := "| " + m.what + " | `" + test + "` |\n"; !strings.Contains(string(document), row) {
				t.Errorf("docs/reliability.md lacks the row %s", row)
			}
			command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-run", "^"+test, folder)
			command.Dir = ".."
			command.Env = append(os.Environ(), "SOAK=", "GOFLAGS=-overlay="+processtest.Overlay(t, m.file, m.from, m.into))
			out, err := command.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "--- FAIL") {
				t.Errorf("%s passes: %v\n%s", test, err, out)
			}
		})
	}
}

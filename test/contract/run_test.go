package contract

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"plantstore/internal/token"
	"plantstore/test/openapitest"
)

// The service answers every case as it must.
func TestContract(t *testing.T) {
	if url := os.Getenv("CONTRACT_URL"); url != "" {
		runAll(t, fromEnvironment(t, strings.TrimSuffix(url, "/")))
		return
	}
	t.Parallel()
	s := serve(t)
	tokens := map[string]string{
		"TOKEN":         s.issue(t, "alice", time.Now()),
		"OTHER_TOKEN":   s.issue(t, "bob", time.Now()),
		"EXPIRED_TOKEN": s.issue(t, "alice", time.Now().Add(-2*time.Hour)),
		"REVOKED_TOKEN": s.issue(t, "alice", time.Now()),
	}
	revoked, _ := token.ID(tokens["REVOKED_TOKEN"])
	if err := s.tokens.Revoke(t.Context(), revoked); err != nil {
		t.Fatal(err)
	}
	runAll(t, target{url: s.url, tokens: tokens})
}

// runAll prints how many cases it tried and left out.
func runAll(t *testing.T, target target) {
	messages := errorMessages()
	tried, leftOut := 0, 0
	for _, c := range cases() {
		passed := t.Run(c.name, func(t *testing.T) {
			if reason := target.leavesOut(c); reason != "" {
				leftOut++
				t.Skip("left out: " + reason)
			}
			tried++
			run(t, messages, target, c)
		})
		if !passed && target.only != 0 {
			t.Fatal("the other cases were not tried, because a service that fails may write other plants than the one allowed. " +
				"If its answer is the error 3001, SUBJECT is not the token's subject, or the service does not recognize its own plants")
		}
	}
	fmt.Printf("%d cases tried, %d left out\n", tried, leftOut)
}

// leavesOut returns why a target leaves a case out, or "".
func (target target) leavesOut(c testCase) string {
	if c.needsOther && target.tokens["OTHER_TOKEN"] == "" {
		return "it needs tokens that only `make contract` without URL has"
	}
	if target.only != 0 && c.writes() && !c.isProbe {
		return "it writes, and WRITES=all is not set"
	}
	return ""
}

// run sends the requests of a case and checks each answer. Its messages show the requests as the case
// has them, without the tokens.
func run(t *testing.T, messages map[int]string, target target, c testCase) {
	t.Helper()
	id := target.only
	if id == 0 {
		id = 1<<53 + rand.Int64N(1<<61) // beyond the whole numbers of a float64
	}
	for i, s := range c.steps {
		filled := target.fill(t, s, id)
		got := target.send(t, filled)
		if err := check(messages, filled.want, got); err != nil {
			t.Errorf("step %d: %s: answer = %s: %.400v", i+1, s, got, err)
		}
	}
}

// check returns how an answer differs from the one that is wanted, or nil.
func check(messages map[int]string, want want, got answer) error {
	if got.header.Get("Content-Type") != "application/json" {
		return errors.New("want the content type application/json")
	}
	if got.status != want.status {
		return fmt.Errorf("want status %d, code %d", want.status, want.code)
	}
	if want.code == 0 {
		return equalJSON(got.body, want.body)
	}
	return checkError(messages, want, got)
}

// checkError returns how an answer differs from the Error that is wanted, or nil.
func checkError(messages map[int]string, want want, got answer) error {
	var body struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(got.body, &body, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	message := messages[want.code]
	matches := body.Message == message
	if want.reason != "" {
		message = strings.TrimSuffix(message, ".") + ": " + want.reason
		matches = strings.HasPrefix(body.Message, message)
	}
	if body.Error != want.code || !matches {
		return fmt.Errorf("want the error %d with the message %q", want.code, message)
	}
	if got.header["Retry-After"] != nil || got.header["Idempotency-Key"] != nil {
		return errors.New("want neither Retry-After nor Idempotency-Key")
	}
	return nil
}

// equalJSON compares JSON with numbers as they are written: a float64 may confuse two ids.
func equalJSON(got []byte, want string) error {
	gotValue, wantValue := jsontext.Value(got), jsontext.Value(want)
	if err := gotValue.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return err
	}
	if err := wantValue.Format(jsontext.ReorderRawObjects(true)); err != nil {
		return fmt.Errorf("the wanted body: %w", err)
	}
	if gotValue.String() != wantValue.String() {
		return fmt.Errorf("want the body %s", want)
	}
	return nil
}

// errorMessages returns the message of each code in the table of openapi.yaml.
func errorMessages() map[int]string {
	messages := map[int]string{}
	description, _ := openapitest.At("components", "schemas", "Error", "properties", "error", "description").(string)
	for line := range strings.Lines(description) {
		cells := strings.Split(line, "|") // nothing, the code, the message, nothing
		if len(cells) != 4 {
			continue
		}
		code, err := strconv.Atoi(strings.TrimSpace(cells[1]))
		if err == nil {
			messages[code] = strings.TrimSpace(cells[2])
		}
	}
	return messages
}

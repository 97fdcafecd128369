package contract

import (
	"bytes"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"plantstore/internal/dynamo"
	"plantstore/internal/memory"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// Every target answers every case as the contract says.
func TestContract(t *testing.T) {
	if url := os.Getenv("CONTRACT_URL"); url != "" {
		runAll(t, fromEnvironment(t, strings.TrimSuffix(url, "/")))
		return
	}
	t.Parallel()
	t.Run("in process", func(t *testing.T) {
		t.Parallel()
		store := new(memory.Tokens)
		address, log := inProcess(t, new(memory.Plants), store)
		runAll(t, target{url: address, tokens: issueAll(t, store), log: log})
	})
	binary := processtest.Build(t, "cmd/plantstore")
	t.Run("serve on DynamoDB", func(t *testing.T) {
		t.Parallel()
		database, plants, tokens := dynamotest.Tables(t)
		server := processtest.Serve(t, binary, "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
		store := &dynamo.Tokens{Client: database, Table: tokens}
		runAll(t, target{url: server.URL, tokens: issueAll(t, store)})
	})
}

// runAll prints how many cases it tried, and the names of those that it left out, with the reason.
func runAll(t *testing.T, target target) {
	contract := loadContract(t)
	tried, leftOut := 0, map[string][]string{}
	for _, c := range cases() {
		passed := t.Run(c.name, func(t *testing.T) {
			if reason := target.leavesOut(c); reason != "" {
				leftOut[reason] = append(leftOut[reason], c.name)
				t.Skip("left out: " + reason)
			}
			tried++
			run(t, contract, target, c)
		})
		if !passed && target.only != 0 {
			t.Fatal("the other cases were not tried, because a service that fails may write other plants than the one allowed")
		}
	}
	fmt.Printf("%s: %d cases tried\n", t.Name(), tried)
	for _, reason := range slices.Sorted(maps.Keys(leftOut)) {
		names := leftOut[reason]
		fmt.Printf("%s: %d left out, because %s: %s\n", t.Name(), len(names), reason, strings.Join(names, "; "))
	}
}

// leavesOut returns why a target leaves a case out, or "".
func (target target) leavesOut(c testCase) string {
	if target.only != 0 && c.writes() && !c.isProbe {
		return "it writes, and WRITES=all is not set"
	}
	return target.lacks[c.needs]
}

// run sends the requests of a case and checks each answer. Its messages show the requests as the case has them, without
// the tokens.
func run(t *testing.T, contract contract, target target, c testCase) {
	t.Helper()
	id := target.only
	if id == 0 {
		id = 1<<53 + rand.Int64N(1<<61) // beyond the whole numbers of a float64
	}
	for i, s := range c.steps {
		filled := target.fill(t, s, id)
		got := target.send(t, filled)
		secrets := append(slices.Collect(maps.Values(target.tokens)), filled.header["Authorization"]...)
		if leaks(fmt.Sprint(string(got.body), got.header, target.logged()), secrets) {
			t.Fatalf("step %d: a part of a token is in the answer or in the log, which therefore are not shown", i+1)
		}
		if err := contract.check(filled, got); err != nil {
			t.Errorf("step %d: %s: answer = %s: %.400v", i+1, s, got, err)
		}
		if _, lacks := target.lacks[gatewayBodies]; lacks {
			continue
		}
		if got.header.Get("Apigw-Requestid") == "" {
			t.Errorf("step %d: %s: answer = %s: want an Apigw-Requestid", i+1, s, got)
		}
	}
}

// check returns how an answer differs from what the step wants and openapi.yaml says, or nil.
func (c contract) check(s step, got answer) error {
	if got.header.Get("Content-Type") != "application/json" {
		return errors.New("want the content type application/json")
	}
	if got.status != s.want.status {
		return fmt.Errorf("want status %d, code %d", s.want.status, s.want.code)
	}
	if s.want.gateway {
		return equalJSON(got.body, fmt.Sprintf(`{"message":%q}`, http.StatusText(got.status)))
	}
	schema := c.answers[c.route(s.method, s.path)][got.status]
	if schema == nil {
		return fmt.Errorf("openapi.yaml has no answer %d with JSON for this request", got.status)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(got.body))
	if err != nil {
		return err
	}
	if err := schema.Validate(value); err != nil {
		return err
	}
	if s.want.code == 0 {
		return equalJSON(got.body, s.want.body)
	}
	return c.checkError(s.want, got)
}

// checkError returns how an answer differs from the Error that is wanted, or nil.
func (c contract) checkError(want want, got answer) error {
	var body struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(got.body, &body, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	message := c.messages[want.code]
	if want.reason != "" {
		message = strings.TrimSuffix(message, ".") + ": " + want.reason + "."
	}
	if body.Error != want.code || body.Message != message {
		return fmt.Errorf("want the error %d with the message %q", want.code, message)
	}
	if got.header["Retry-After"] != nil || got.header["Idempotency-Key"] != nil {
		return errors.New("want neither Retry-After nor Idempotency-Key")
	}
	return nil
}

// equalJSON compares JSON with numbers exactly: a float64 may confuse two ids.
func equalJSON(got []byte, want string) error {
	gotValue, err := jsonschema.UnmarshalJSON(bytes.NewReader(got))
	if err != nil {
		return err
	}
	wantValue, err := jsonschema.UnmarshalJSON(strings.NewReader(want))
	if err != nil {
		return fmt.Errorf("the wanted body: %w", err)
	}
	if !reflect.DeepEqual(gotValue, wantValue) {
		return fmt.Errorf("want the body %s", want)
	}
	return nil
}

// leaks reports whether any eight characters of a secret are in text, in whatever case.
func leaks(text string, secrets []string) bool {
	text = strings.ToLower(text)
	for _, secret := range secrets {
		secret = strings.ToLower(secret)
		for ; len(secret) >= 8; secret = secret[1:] {
			if strings.Contains(text, secret[:8]) {
				return true
			}
		}
	}
	return false
}

package contract

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"plantstore/test/openapitest"
)

// The service answers every case as it must. Of a deployment where only one plant may be written, [probes]
// write it, and the other cases that write are left out.
func TestContract(t *testing.T) {
	t.Parallel()
	target := newTarget(t)
	tried := 0
	leftOut := map[string]int{}
	for i, c := range slices.Concat(probes(), cases()) {
		isProbe := i < len(probes())
		if target.only != 0 && !isProbe && c.writes() {
			leftOut["because they write"]++
			continue
		}
		if target.other == "" && c.needsOther() {
			leftOut["because OTHER_TOKEN is not set"]++
			continue
		}
		tried++
		passed := t.Run(c.name, func(t *testing.T) { run(t, target, c) })
		if !passed && target.only != 0 {
			t.Fatal("the other cases were not tried, because a service that fails may write other plants than the one allowed. " +
				"If its answer is the error 2003, TOKEN is not valid there. " +
				"If it is 3001, SUBJECT is not the token's subject, or the service does not recognize its own plants")
		}
	}
	fmt.Printf("%d cases tried\n", tried)
	for _, reason := range slices.Sorted(maps.Keys(leftOut)) {
		fmt.Printf("%d left out %s\n", leftOut[reason], reason)
	}
}

// run sends the requests of a case and checks each answer. Its messages show the requests as the case
// has them, without the token.
func run(t *testing.T, target target, c testCase) {
	t.Helper()
	id := target.only
	if id == 0 {
		id = 1<<53 + rand.Int64N(1<<61) // beyond the whole numbers of a float64
	}
	texts := strings.NewReplacer("$1", openapitest.ID(id), "$2", openapitest.ID(id+1), "$-1", openapitest.ID(-id),
		"$TOKEN", target.token, "$FORGED", forged(target.token), "$OTHER", target.other)
	for i, s := range c.steps {
		got := target.send(t, s, texts)
		s.want.body = texts.Replace(s.want.body)
		if err := check(s.want, got); err != nil {
			t.Errorf("step %d: %s: answer = %s: %.400v", i+1, s, got, err)
		}
		if shown := fmt.Sprint(string(got.body), got.header); strings.Contains(shown, target.token) || strings.Contains(shown, forged(target.token)) {
			t.Errorf("step %d: %s: the answer shows the token", i+1, s)
		}
	}
}

// check returns how an answer differs from the one that is wanted, or nil.
func check(want want, got answer) error {
	if got.header.Get("Content-Type") != "application/json" {
		return errors.New("want the content type application/json")
	}
	if got.status != want.status {
		return fmt.Errorf("want status %d, code %d", want.status, want.code)
	}
	if want.code == 0 {
		return equalJSON(got.body, want.body)
	}
	var body struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(got.body, &body, json.RejectUnknownMembers(true)); err != nil {
		return err
	}
	if body.Error != want.code || body.Message == "" {
		return fmt.Errorf("want the error %d and a message", want.code)
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

package contract

import (
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

	"plantstore/internal/memory"
	"plantstore/test/processtest"
)

// Every target answers every case as the contract says.
func TestContract(t *testing.T) {
	if url := os.Getenv("CONTRACT_URL"); url != "" {
		runAll(t, fromEnvironment(t, strings.TrimSuffix(url, "/")))
		return
	}
	t.Parallel()
	binary := processtest.Build(t, "plantstore")
	for name, newTarget := range map[string]func(*testing.T) target{
		"in process":        func(t *testing.T) target { return newService(t, new(memory.PlantStore)).target },
		"serve in memory":   func(t *testing.T) target { return serveInMemory(t, binary) },
		"serve on DynamoDB": func(t *testing.T) target { return serveOnDynamoDB(t, binary) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runAll(t, newTarget(t))
		})
	}
}

func runAll(t *testing.T, target target) {
	t.Helper()
	contract, counts := loadContract(t), map[string]int{}
	for _, c := range conversations() {
		if reason, lacks := target.lacking[c.needs]; lacks {
			t.Logf("left out: %s: %s", c.name, reason)
			counts["left out"]++
			continue
		}
		id, result := 1<<53+rand.Int64N(1<<62), "passed" // ids beyond the whole numbers of a float64
		for i, s := range c.steps {
			got := target.send(t, s, id)
			if target.guarded && got.status == http.StatusOK && s.want.plant == "" {
				t.Fatalf("%.200s: step %d: %s wrote a plant that it must not, so the other cases were not tried", c.name, i+1, s)
			}
			problem := contract.compare(got, s.want)
			if holdsPart(fmt.Sprint(string(got.body), got.header), slices.Collect(maps.Values(target.tokens))...) {
				got, problem = answer{}, "it holds a part of a token, and therefore is not shown"
			}
			if problem != "" {
				t.Errorf("%.200s: step %d: %s: answer = %s: %.300s", c.name, i+1, s, got, problem)
				result = "failed"
			}
		}
		counts[result]++
	}
	t.Logf("%d cases passed, %d were left out, %d failed", counts["passed"], counts["left out"], counts["failed"])
}

// compare returns how an answer differs from what is wanted, or "".
func (c contract) compare(got answer, want want) string {
	if want.status != 0 {
		body := `{"message":"` + want.message + `"}`
		if got.status != want.status || string(got.body) != body || got.header.Get("Content-Type") != "application/json" {
			return fmt.Sprintf("want %d %s of type application/json", want.status, body)
		}
		return ""
	}
	code, clause, members, err := c.outcome(got)
	var plant map[string]any
	_ = json.Unmarshal([]byte(want.plant), &plant) // nil if no plant is wanted
	switch {
	case err != nil:
		return err.Error()
	case code == 0 && reflect.DeepEqual(members, plant), slices.Contains(want.codes, code) && clause == want.clause:
		return ""
	}
	return "want " + want.String()
}

// outcome reads an answer of the contract: the code of an Error and the clause at the end of its
// message, or 0 and the members of a Plant. Any other answer is an error.
func (c contract) outcome(a answer) (code int, clause string, members map[string]any, err error) {
	schema, known := c.answers[a.status]
	if !known || a.header.Get("Content-Type") != "application/json" {
		return 0, "", nil, errors.New("want status 200 or 400 and type application/json")
	}
	if err = json.Unmarshal(a.body, &members); err == nil {
		err = schema.Validate(members)
	}
	if err != nil || a.status == http.StatusOK {
		return 0, "", members, err
	}
	number, _ := members["error"].(float64)
	message, _ := members["message"].(string)
	code = int(number)
	clause, ok := strings.CutPrefix(message, strings.TrimSuffix(c.messages[code], "."))
	clause = strings.TrimPrefix(strings.TrimSuffix(clause, "."), ": ")
	switch {
	case !ok || clause != "" && code != 1004:
		err = fmt.Errorf("want the message %q", c.messages[code])
	case len(members) != 2:
		err = errors.New("want no members besides error and message")
	case code < 5000 && (a.header["Retry-After"] != nil || a.header["Idempotency-Key"] != nil):
		err = errors.New("want neither Retry-After nor Idempotency-Key")
	}
	return code, clause, members, err
}

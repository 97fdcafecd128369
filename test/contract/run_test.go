package contract

import (
	"cmp"
	"encoding/json/v2"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"plantstore/internal/dynamo"
	"plantstore/test/dynamotest"
	"plantstore/test/issuertest"
	"plantstore/test/processtest"
)

var tried, leftOut atomic.Int64 // cases, of all targets

// TestMain ends the output of a run of TestContract with the number of cases that it left out.
func TestMain(m *testing.M) {
	code := m.Run()
	if tried.Load() > 0 {
		fmt.Printf("%d cases were tried, %d were left out\n", tried.Load(), leftOut.Load())
	}
	os.Exit(code)
}

// Every target answers every case as the contract says.
func TestContract(t *testing.T) {
	if url := os.Getenv("CONTRACT_URL"); url != "" {
		runAll(t, fromEnvironment(t, strings.TrimSuffix(url, "/")))
		return
	}
	t.Parallel()
	t.Run("in process", func(t *testing.T) { runAll(t, newService(t).target) })
	binary := processtest.Build(t, "cmd/plantstore")
	t.Run("serve on DynamoDB", func(t *testing.T) {
		database, plants, tokens := dynamotest.Tables(t)
		server := processtest.Serve(t, binary, "PLANTS_TABLE="+plants, "TOKENS_TABLE="+tokens)
		secrets := issueAll(t, &dynamo.Tokens{Client: database, Table: tokens})
		runAll(t, target{server.URL, http.DefaultTransport, secrets, nil, false})
	})
	t.Run("serve in memory", func(t *testing.T) {
		server := processtest.Serve(t, binary, processtest.InMemory()...)
		secret := map[string]string{"TOKEN": server.Token}
		const why = "a server in memory has one token"
		lacking := map[need]string{expiredToken: why, revokedToken: why, anotherToken: why}
		runAll(t, target{server.URL, http.DefaultTransport, secret, lacking, false})
	})
	t.Run("with the tokens of an issuer", func(t *testing.T) {
		issuer := issuertest.Start(t, "127.0.0.1")
		lacking := map[need]string{revokedToken: "a JWT cannot be revoked"}
		t.Run("in process", func(t *testing.T) {
			service := newService(t)
			service.accept(t, issuer)
			runAll(t, target{"", service, issuer.Tokens, lacking, false})
		})
		t.Run("serve in memory", func(t *testing.T) {
			server := processtest.Serve(t, binary, append(processtest.InMemory(), issuer.Environment()...)...)
			runAll(t, target{server.URL, http.DefaultTransport, issuer.Tokens, lacking, false})
		})
	})
}

func runAll(t *testing.T, target target) {
	contract := loadContract(t)
	for _, c := range conversations() {
		if reason, lacks := target.lacking[c.needs]; lacks {
			t.Logf("left out: %s: %s", c.name, reason)
			leftOut.Add(1)
			continue
		}
		tried.Add(1)
		id := 1<<53 + rand.Int64N(1<<62) // beyond the whole numbers of a float64
		if target.guarded {
			id = math.MaxInt64 - 1 // the same in each run, so that all of them together write one plant
		}
		for i, s := range c.steps {
			got := target.send(t, s, id)
			if target.guarded && got.status == http.StatusOK && s.want.plant == "" {
				t.Fatalf("%.200s: step %d: %s wrote a plant that it must not, so the other cases were not tried", c.name, i+1, s)
			}
			if target.guarded && i == 0 && s.want.plant != "" && contract.compare(got, exists) == "" {
				t.Logf("left out: %s: another subject has created the plant", c.name)
				tried.Add(-1)
				leftOut.Add(1)
				break
			}
			problem := contract.compare(got, s.want)
			if _, ofItsOwn := target.lacking[gatewayBodies]; !ofItsOwn && got.header.Get("Apigw-Requestid") == "" {
				problem = cmp.Or(problem, "want an Apigw-Requestid")
			}
			if holdsPart(fmt.Sprint(string(got.body), got.header), slices.Collect(maps.Values(target.tokens))...) {
				got, problem = answer{}, "it holds a part of a token, and therefore is not shown"
			}
			if problem != "" {
				t.Errorf("%.200s: step %d: %s: answer = %s: %.300s", c.name, i+1, s, got, problem)
			}
		}
	}
}

// compare returns how an answer differs from what is wanted, or "".
func (c contract) compare(got answer, want want) string {
	code, clause, members, err := c.outcome(got)
	var plant map[string]any
	_ = json.Unmarshal([]byte(want.plant), &plant) // nil if no plant is wanted
	switch {
	case err != nil:
		return err.Error()
	case code == 0 && reflect.DeepEqual(members, plant), slices.Contains(want.codes, code) && clause == want.clause:
		return ""
	}
	return fmt.Sprintf("want Plant %.200s or codes %v %s", want.plant, want.codes, want.clause)
}

// outcome reads an answer of the contract: 0 and the members of a Plant, or the code of an Error and the clause at the
// end of its message. For an answer of API Gateway's own the code is the status. Any other answer is an error.
func (c contract) outcome(a answer) (code int, clause string, members map[string]any, err error) {
	if a.header.Get("Content-Type") != "application/json" {
		return 0, "", nil, errors.New("want type application/json")
	}
	if string(a.body) == `{"message":"`+http.StatusText(a.status)+`"}` {
		return a.status, "", nil, nil
	}
	schema, known := c.answers[a.status]
	if !known {
		return 0, "", nil, errors.New("want status 200 or 400")
	}
	if err = json.Unmarshal(a.body, &members); err == nil {
		err = schema.Validate(members)
	}
	number, isError := members["error"].(float64)
	if err != nil || !isError {
		return 0, "", members, err
	}
	message, _ := members["message"].(string)
	code = int(number)
	clause, ok := strings.CutPrefix(message, strings.TrimSuffix(c.messages[code], "."))
	clause = strings.TrimPrefix(strings.TrimSuffix(clause, "."), ": ")
	if !ok || clause != "" && code != 1004 || len(members) != 2 {
		err = fmt.Errorf("want the message %q and no more", c.messages[code])
	}
	if code < 5000 && (a.header["Retry-After"] != nil || a.header["Idempotency-Key"] != nil) {
		err = errors.New("want neither Retry-After nor Idempotency-Key")
	}
	return code, clause, members, err
}

var randomCharacters = regexp.MustCompile(`[0-9a-z]{8,}`)

// holdsPart reports whether eight characters of a secret are in the text, in any case.
func holdsPart(text string, secrets ...string) bool {
	text = strings.ToLower(text)
	for _, part := range randomCharacters.FindAllString(strings.ToLower(strings.Join(secrets, " ")), -1) {
		for ; len(part) >= 8; part = part[1:] {
			if strings.Contains(text, part[:8]) {
				return true
			}
		}
	}
	return false
}

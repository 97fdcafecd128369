package contract

import (
	"cmp"
	"encoding/json/v2"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A target is a deployment to check.
type target struct {
	url     string
	tokens  map[string]string // TOKEN, EXPIRED_TOKEN, REVOKED_TOKEN, OTHER_TOKEN
	lacking map[need]string   // why a need is not met
	guarded bool              // at most one plant may be written
}

// leaks reports whether text holds a token, or a part of one that is of use.
func (t target) leaks(text string) bool {
	const part = 8 // characters
	for _, secret := range t.tokens {
		for secret = strings.TrimPrefix(secret, "pst_"); len(secret) >= part; secret = secret[1:] {
			if strings.Contains(text, secret[:part]) {
				return true
			}
		}
	}
	return false
}

func TestContract(t *testing.T) {
	if url := os.Getenv("CONTRACT_URL"); url != "" {
		runAll(t, fromEnvironment(t, strings.TrimSuffix(url, "/")))
		return
	}
	for name, newTarget := range map[string]func(*testing.T) target{
		"in process":        inProcess,
		"serve in memory":   serveInMemory,
		"serve on DynamoDB": serveOnDynamoDB,
	} {
		t.Run(name, func(t *testing.T) { runAll(t, newTarget(t)) })
	}
}

func runAll(t *testing.T, target target) {
	for name, secret := range map[string]string{
		"{TOKEN}": target.tokens["TOKEN"],
		"TYPO":    typo(target.tokens["TOKEN"]),
		"CUT":     target.tokens["TOKEN"][:len(target.tokens["TOKEN"])-1],
		"LOWER":   strings.ToLower(target.tokens["TOKEN"]),
	} {
		target.tokens[name] = secret
	}
	contract := newContract(t)
	passed, leftOut := 0, 0
	for _, c := range conversations() {
		reason, lacks := target.lacking[c.needs]
		goOn := true
		ok := t.Run(c.name, func(t *testing.T) {
			if lacks {
				t.Skip("left out: " + reason)
			}
			id := 1<<53 + rand.Int64N(1<<62) // beyond the whole numbers of a float64
			for i := 0; i < len(c.steps) && goOn; i++ {
				goOn = check(t, i+1, c.steps[i], target, contract, id)
			}
		})
		switch {
		case !goOn:
			t.Fatal("the other cases were not tried")
		case lacks:
			leftOut++
		case ok:
			passed++
		}
	}
	t.Logf("%d cases passed, %d were left out, %d failed", passed, leftOut, len(conversations())-passed-leftOut)
}

// check sends the request of a step and judges its answer. It returns false where
// it is of no use, or would do harm, to go on.
func check(t *testing.T, number int, s step, target target, contract contract, id int64) (goOn bool) {
	t.Helper()
	response, body, err := send(t, s, target, id)
	if err != nil {
		t.Errorf("step %d: %s: no answer: %v", number, s, err)
		return false
	}
	if target.leaks(fmt.Sprint(string(body), response.Header)) {
		t.Errorf("step %d: %s: there is a token, or a part of one, in the answer, which therefore is not shown", number, s)
		return true
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("step %d: %s: answer = %d %.200q: %s", number, s, response.StatusCode, body, fmt.Sprintf(format, args...))
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		fail("content type = %q, want application/json", got)
	}
	if s.want.status == 0 {
		contract.judge(fail, response, body, s.want)
	} else if want := `{"message":"` + s.want.message + `"}`; response.StatusCode != s.want.status || string(body) != want {
		fail("want %d %s", s.want.status, want)
	}
	if target.guarded && response.StatusCode == http.StatusOK && s.want.plant == "" {
		fail("a plant was written that must not be, and no other may be")
		return false
	}
	return true
}

// contract is what openapi.yaml says of answers.
type contract struct {
	plant, failure *jsonschema.Schema
	messages       map[int]string // by the code of the error
}

func newContract(t *testing.T) contract {
	t.Helper()
	document := load(t, "../../openapi.yaml")
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("../../openapi.yaml", document); err != nil {
		t.Fatal(err)
	}
	answer := func(status string) *jsonschema.Schema {
		schema, err := compiler.Compile("../../openapi.yaml#/paths/~1plants/post/responses/" + status + "/content/application~1json/schema")
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	c := contract{answer("200"), answer("400"), map[int]string{}}
	codes, _ := at(document, "components.schemas.Error.properties.error.oneOf").([]any)
	for _, code := range codes {
		number, _ := at(code, "const").(int)
		c.messages[number], _ = at(code, "description").(string)
	}
	return c
}

func (c contract) judge(fail func(string, ...any), response *http.Response, body []byte, want answer) {
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		fail("not JSON: %v", err)
		return
	}
	code := 0
	switch response.StatusCode {
	case http.StatusOK:
		if err := c.plant.Validate(value); err != nil {
			fail("not a Plant: %v", err)
		}
		if !sameJSON(string(body), want.plant) {
			fail("want %.200s", wanted(want))
		}
	case http.StatusBadRequest:
		if err := c.failure.Validate(value); err != nil {
			fail("not an Error of the catalogue: %v", err)
		}
		code = c.judgeError(fail, body, want)
	default:
		fail("want status 200 or 400")
	}
	judgeHeaders(fail, response.Header, code)
}

// judgeError judges an Error, and returns its code.
func (c contract) judgeError(fail func(string, ...any), body []byte, want answer) int {
	var got struct {
		Error   int    `json:"error"`
		Message string `json:"message"`
	}
	if err := json.Unmarshal(body, &got, json.RejectUnknownMembers(true)); err != nil || !slices.Contains(want.errors, got.Error) {
		fail("want %s and nothing else", wanted(want))
	}
	message := c.messages[got.Error]
	if got.Error == 1004 {
		message = strings.TrimSuffix(message, ".") + ": " + want.clause + "."
	}
	if got.Message != message {
		fail("want the message %q", message)
	}
	return got.Error
}

// judgeHeaders judges the headers that come with an Error of this code, or with a
// Plant, whose code is 0.
func judgeHeaders(fail func(string, ...any), header http.Header, code int) {
	for name, expected := range map[string]struct {
		codes []int
		value *regexp.Regexp
	}{
		"Retry-After":     {[]int{5002, 5003, 5004}, regexp.MustCompile(`^\d+$`)},
		"Idempotency-Key": {[]int{5002, 5004}, regexp.MustCompile(`^[!-~]{1,255}$`)},
	} {
		values, want := header.Values(name), slices.Contains(expected.codes, code)
		if want && (len(values) != 1 || !expected.value.MatchString(values[0])) || !want && len(values) > 0 {
			fail("%s = %q, want it with %v alone", name, values, expected.codes)
		}
	}
}

func wanted(a answer) string {
	if a.plant == "" {
		return fmt.Sprintf("400 with error %v", a.errors)
	}
	return "200 " + a.plant
}

// client takes an answer as it is: a redirect is none of the contract's.
var client = &http.Client{
	Timeout:       20 * time.Second,
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// send sends the request of s with the case's ids and the target's tokens.
func send(t *testing.T, s step, target target, id int64) (*http.Response, []byte, error) {
	t.Helper()
	fill := func(text string) string {
		text = strings.NewReplacer("$1", fmt.Sprint(id), "$2", fmt.Sprint(id+1)).Replace(text)
		for name, secret := range target.tokens {
			text = strings.ReplaceAll(text, "$"+name, secret)
		}
		return text
	}
	method, url := cmp.Or(s.method, http.MethodPost), target.url+cmp.Or(s.path, "/plants")
	body := strings.TrimSuffix(cmp.Or(s.body, oak), emptyBy)
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(fill(body)))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {fill("Bearer $TOKEN")}, "Content-Type": {"application/json"}}
	for name, values := range s.header {
		request.Header[name] = nil
		for _, value := range values {
			request.Header.Add(name, fill(value))
		}
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(io.LimitReader(response.Body, 10<<20))
	return response, answer, err
}

func sameJSON(a, b string) bool {
	var x, y any
	if json.Unmarshal([]byte(a), &x) != nil || json.Unmarshal([]byte(b), &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}

// typo returns secret with its last character changed.
func typo(secret string) string {
	last := "0"
	if strings.HasSuffix(secret, last) {
		last = "1"
	}
	return secret[:len(secret)-1] + last
}

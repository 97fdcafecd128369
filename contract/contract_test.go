package contract

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"reflect"
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
	judge := newJudge(t)
	passed, leftOut := 0, 0
	for _, c := range conversations() {
		reason, lacks := target.lacking[c.needs]
		answered := true
		ok := t.Run(c.name, func(t *testing.T) {
			if lacks {
				t.Skip("left out: " + reason)
			}
			id := rand.Int64N(1<<53) + 1
			for i := 0; i < len(c.steps) && answered; i++ {
				answered = check(t, i+1, c.steps[i], target, judge, id)
			}
		})
		switch {
		case !answered:
			t.Fatal("the other cases were not tried, as the service does not answer")
		case lacks:
			leftOut++
		case ok:
			passed++
		}
	}
	t.Logf("%d cases passed, %d were left out, %d failed", passed, leftOut, len(conversations())-passed-leftOut)
}

// check sends the request of a step and judges its answer. It returns false where
// none came.
func check(t *testing.T, number int, s step, target target, judge judge, id int64) (answered bool) {
	t.Helper()
	response, body, err := send(t, s, target, id)
	if err != nil {
		t.Errorf("step %d: %s: no answer: %v", number, s, err)
		return false
	}
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("step %d: %s: answer = %d %.200q: %s", number, s, response.StatusCode, body, fmt.Sprintf(format, args...))
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		fail("content type = %q, want application/json", got)
	}
	if strings.Contains(fmt.Sprint(string(body), response.Header), target.tokens["TOKEN"]) {
		fail("the token is in the answer")
	}
	if s.want.status == 0 {
		judge.judge(fail, response, body, s.want)
	} else if want := `{"message":"` + s.want.message + `"}`; response.StatusCode != s.want.status || string(body) != want {
		fail("want %d %s", s.want.status, want)
	}
	return true
}

// judge knows what openapi.yaml says of answers.
type judge struct {
	schemas  map[string]*jsonschema.Schema
	messages map[int]string // by the code of the error
}

func newJudge(t *testing.T) judge {
	t.Helper()
	document := load(t, "../openapi.yaml")
	j := judge{map[string]*jsonschema.Schema{}, map[int]string{}}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("../openapi.yaml", document); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"Plant", "Error"} {
		schema, err := compiler.Compile("../openapi.yaml#/components/schemas/" + name)
		if err != nil {
			t.Fatal(err)
		}
		j.schemas[name] = schema
	}
	codes, _ := at(document, "components.schemas.Error.properties.error.oneOf").([]any)
	for _, code := range codes {
		number, _ := at(code, "const").(int)
		j.messages[number], _ = at(code, "description").(string)
	}
	return j
}

func (j judge) judge(fail func(string, ...any), response *http.Response, body []byte, want answer) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		fail("not JSON: %v", err)
		return
	}
	switch response.StatusCode {
	case http.StatusOK:
		if err := j.schemas["Plant"].Validate(value); err != nil {
			fail("not a Plant: %v", err)
		}
		if !sameJSON(string(body), want.plant) {
			fail("want %.200s", wanted(want))
		}
	case http.StatusBadRequest:
		if err := j.schemas["Error"].Validate(value); err != nil {
			fail("not an Error of the catalogue: %v", err)
		}
		j.judgeError(fail, response.Header, body, want)
	default:
		fail("want status 200 or 400")
	}
}

// judgeError judges an Error and the headers that come with it.
func (j judge) judgeError(fail func(string, ...any), header http.Header, body []byte, want answer) {
	var got struct {
		Error   int
		Message string
	}
	if err := json.Unmarshal(body, &got); err != nil || !slices.Contains(want.errors, got.Error) {
		fail("want %s", wanted(want))
	}
	// The message of 1004 goes on to say what is wrong.
	message := j.messages[got.Error]
	if got.Error == 1004 {
		message = strings.TrimSuffix(message, ".") + ": "
		got.Message = got.Message[:min(len(message), len(got.Message))]
	}
	if got.Message != message {
		fail("message = %q, want %q", got.Message, message)
	}
	retry := slices.Contains([]int{5002, 5003, 5004}, got.Error)
	key := slices.Contains([]int{5002, 5004}, got.Error)
	if (header.Get("Retry-After") != "") != retry || (header.Get("Idempotency-Key") != "") != key {
		fail("headers = %v, want Retry-After with 5002 to 5004 alone, and Idempotency-Key with 5002 and 5004 alone", header)
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
	answer, err := io.ReadAll(response.Body)
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

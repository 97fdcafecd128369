// Package contract checks a Plant Store from outside, over HTTP alone, against
// openapi.yaml and a table of cases.
//
//	make contract                       in process and as `plantstore serve`
//	make contract URL=... TOKEN=...     any deployment
//
// A deployment belongs to its customers and nothing can be deleted from it, so
// with URL a single plant is written, with the tag contract-probe, unless
// WRITES=all. EXPIRED_TOKEN, REVOKED_TOKEN and OTHER_TOKEN, a valid token of
// another subject, let more cases run. What a target cannot show is skipped,
// with the reason.
package contract

import (
	"bytes"
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
	"go.yaml.in/yaml/v3"
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
	schemas := loadSchemas(t)
	for name, secret := range map[string]string{
		"{TOKEN}": target.tokens["TOKEN"],
		"TYPO":    typo(target.tokens["TOKEN"]),
		"CUT":     target.tokens["TOKEN"][:len(target.tokens["TOKEN"])-1],
		"LOWER":   strings.ToLower(target.tokens["TOKEN"]),
	} {
		target.tokens[name] = secret
	}
	for _, c := range conversations() {
		t.Run(c.name, func(t *testing.T) {
			if reason, lacks := target.lacking[c.needs]; lacks {
				t.Skip("left out: " + reason)
			}
			id := rand.Int64N(1 << 53)
			for i, s := range c.steps {
				check(t, i+1, s, target, schemas, id+1)
			}
		})
	}
}

// check sends the request of a step and judges its answer.
func check(t *testing.T, number int, s step, target target, schemas map[string]*jsonschema.Schema, id int64) {
	t.Helper()
	response, body := send(t, s, target, id)
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("step %d: answer = %d %.200s: %s", number, response.StatusCode, body, fmt.Sprintf(format, args...))
	}
	if got := response.Header.Get("Content-Type"); got != "application/json" {
		fail("content type = %q, want application/json", got)
	}
	if strings.Contains(string(body), target.tokens["TOKEN"]) {
		fail("the token is in the answer")
	}
	if s.want.status != 0 {
		if want := `{"message":"` + s.want.message + `"}`; response.StatusCode != s.want.status || string(body) != want {
			fail("want %d %s", s.want.status, want)
		}
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		fail("not JSON: %v", err)
		return
	}
	switch response.StatusCode {
	case http.StatusOK:
		if err := schemas["Plant"].Validate(value); err != nil {
			fail("not a Plant: %v", err)
		}
		if !sameJSON(t, string(body), s.want.plant) {
			fail("want %.200s", wanted(s.want))
		}
	case http.StatusBadRequest:
		if err := schemas["Error"].Validate(value); err != nil {
			fail("not an Error of the catalogue: %v", err)
		}
		checkError(fail, response.Header, body, s.want)
	default:
		fail("want status 200 or 400")
	}
}

// checkError judges an Error and the headers that come with it.
func checkError(fail func(string, ...any), header http.Header, body []byte, want answer) {
	var got struct{ Error int }
	if err := json.Unmarshal(body, &got); err != nil || !slices.Contains(want.errors, got.Error) {
		fail("want %s", wanted(want))
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

// send sends the request of s with the case's ids and the target's tokens.
func send(t *testing.T, s step, target target, id int64) (*http.Response, []byte) {
	t.Helper()
	fill := func(text string) string {
		text = strings.NewReplacer("$1", fmt.Sprint(id), "$2", fmt.Sprint(id+1)).Replace(text)
		for name, secret := range target.tokens {
			text = strings.ReplaceAll(text, "$"+name, secret)
		}
		return text
	}
	body := oak
	if s.body != "" {
		body = strings.TrimSuffix(s.body, emptyBy)
	}
	method, path := s.method, s.path
	if method == "" {
		method = http.MethodPost
	}
	if path == "" {
		path = "/plants"
	}
	request, err := http.NewRequestWithContext(t.Context(), method, target.url+path, strings.NewReader(fill(body)))
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
	response, err := (&http.Client{Timeout: time.Minute}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // read to its end
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, answer
}

// loadSchemas returns the schemas of openapi.yaml.
func loadSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	content, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var document any
	if err := yaml.Unmarshal(content, &document); err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("openapi.yaml", document); err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*jsonschema.Schema{}
	for _, name := range []string{"Plant", "NewPlant", "Error"} {
		if schemas[name], err = compiler.Compile("openapi.yaml#/components/schemas/" + name); err != nil {
			t.Fatal(err)
		}
	}
	return schemas
}

func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
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

package contract

import (
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// checkBody sends a body, compares the answer and the plant that reaches the store with the judgement of the oracle,
// and returns the code.
func (s *service) checkBody(t *testing.T, body string) (code int) {
	t.Helper()
	want, wantCode := s.judge([]byte(body))
	got := s.try(t, body, "Bearer "+s.tokens["TOKEN"])
	code, _, members, err := s.outcome(got)
	if err != nil || code != wantCode || !reflect.DeepEqual(s.plants.plant, want) ||
		code == 0 && !reflect.DeepEqual(members, membersOf(want.Plant)) {
		t.Errorf("POST %.5000q = %s, %v, and stores %s; judge in schema_test.go wants code %d and %s; log:\n%s",
			body, got, err, text(s.plants.plant), wantCode, text(want), &s.log)
	}
	return code
}

// suite calls f for each case of JSONTestSuite.
func suite(t testing.TB, f func(name, text string)) {
	t.Helper()
	content, err := os.ReadFile("testdata/jsonsuite.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		name, text, times := "", "", 1
		if n, err := fmt.Sscanf(line, "%s %q %d", &name, &text, &times); n >= 2 {
			f(name, strings.Repeat(text, times))
		} else if !strings.HasPrefix(line, "#") {
			t.Fatalf("testdata/jsonsuite.txt: %.100q: %v", line, err)
		}
	}
}

// bodiesWith returns bodies with text as the whole, as id and as an unknown member.
func bodiesWith(text string) []string {
	return []string{text, `{"id":` + text + `,"name":"oak"}`, `{"id":1,"name":"oak","x":` + text + `}`}
}

// The service accepts what every JSON parser must, except for duplicate names, and refuses what every one must refuse.
func TestJSONTestSuite(t *testing.T) {
	t.Parallel()
	s, counts := newService(t), map[string]int{}
	suite(t, func(name, text string) {
		kind := name[:2]
		counts[kind]++
		for _, body := range bodiesWith(text) {
			code := s.checkBody(t, body)
			isJSON := code != 1002 && code != 1003
			wantJSON := kind == "y_" && !strings.HasPrefix(name, "y_object_duplicated_key")
			if kind != "i_" && isJSON != wantJSON {
				t.Errorf("%s: POST %.200q = code %d, want accepted as JSON: %t", name, body, code, wantJSON)
			}
		}
	})
	if counts["y_"] != 95 || counts["n_"] != 188 || counts["i_"] != 35 {
		t.Errorf("the suite has cases %v, want 95 y_, 188 n_ and 35 i_", counts)
	}
}

// The service answers and stores each body as the oracle says.
func FuzzDecode(f *testing.F) {
	for _, body := range corpus() {
		f.Add(body)
	}
	suite(f, func(_, text string) { f.Add(text[:min(len(text), 10_000)]) }) // long ones would slow it down
	s := newService(f)
	f.Fuzz(func(t *testing.T, text string) {
		for _, body := range bodiesWith(text) {
			s.checkBody(t, body)
		}
	})
}

// The service answers and stores every mutant of a valid body as the oracle says.
func TestMutants(t *testing.T) {
	t.Parallel()
	s, r := newService(t), rand.New(rand.NewPCG(processtest.Seed(t), 0))
	bodies := slices.DeleteFunc(corpus(), func(body string) bool { _, code := s.judge([]byte(body)); return code != 0 })
	total := processtest.Scale(5_000, 100_000)
	repeat(t, total, []int{0, 1003, 1004}, func() int { return s.checkBody(t, mutant(r, bodies)) })
}

// repeat calls f, which returns the code of an answer, total times. Each of the frequent codes must be 5 % or more.
func repeat(t *testing.T, total int, frequent []int, f func() (code int)) {
	t.Helper()
	codes := map[int]int{}
	for number := 0; number < total && !t.Failed(); number++ {
		codes[f()]++
	}
	for _, code := range frequent {
		if !t.Failed() && codes[code] < total/20 {
			t.Errorf("%d of %d answers got code %d, want 5 %% or more, or they show little", codes[code], total, code)
		}
	}
}

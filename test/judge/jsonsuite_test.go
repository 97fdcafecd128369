package judge

import (
	"errors"
	"strings"
	"testing"

	"plantstore/internal/memory"
	"plantstore/internal/plant"
)

// codes are the codes of the judgements.
var codes = map[error]int{nil: 0, plant.ErrMalformed: 1003, plant.ErrInvalid: 1004, plant.ErrTooLarge: 1005}

// The suite as the whole body, and as a value within it: of id, where the schema
// looks at it, and of a member that nobody knows.
func TestJSONTestSuite(t *testing.T) {
	j := newJudge(t)
	for _, test := range []struct {
		cases      []suiteCase
		count      int
		wellFormed bool
	}{
		{mustAccept(), 95, true},
		{mustRefuse(), 188, false},
		{append(mayAccept(), mayRefuse()...), 35, false},
		{mayAccept(), 11, true},
		{mayRefuse(), 24, false},
	} {
		if len(test.cases) != test.count {
			t.Errorf("the suite has %d cases from %s on, want %d", len(test.cases), test.cases[0].name, test.count)
		}
	}
	for _, c := range append(mustAccept(), mayAccept()...) {
		// A parser may take a name twice. We do not.
		wellFormed := !strings.HasPrefix(c.name, "y_object_duplicated_key")
		j.checkCase(t, c, wellFormed)
	}
	for _, c := range append(mustRefuse(), mayRefuse()...) {
		j.checkCase(t, c, false)
	}
}

func (j judge) checkCase(t *testing.T, c suiteCase, wellFormed bool) {
	t.Helper()
	places := []struct{ name, body string }{
		{"the whole body", c.text},
		{"id", `{"id":` + c.text + `,"name":"oak"}`},
		{"an unknown member", `{"id":1,"name":"oak","x":` + c.text + `}`},
	}
	for _, place := range places {
		name := c.name + " as " + place.name
		judged := j.check(t, name, []byte(place.body))
		if wellFormed == errors.Is(judged, plant.ErrMalformed) {
			t.Errorf("%s: judged %v, want well-formed to be %t", name, judged, wellFormed)
		}
		if wellFormed && place.name == "an unknown member" && judged != nil {
			t.Errorf("%s: judged %v, want a plant", name, judged)
		}
		want := codes[judged]
		if place.body == "" {
			want = 1002
		}
		for _, text := range []bool{false, true} {
			sent := request{body: []byte(place.body), text: text}
			if got, _, err := j.create(t, new(memory.PlantStore), sent); got != want || err != nil {
				t.Errorf("%s: Invoke(%.80q), as text %t = %d, %v, want %d", name, place.body, text, got, err, want)
			}
		}
	}
	// Most numbers of the suite are alone in an array.
	if inner, ok := strings.CutPrefix(c.text, "["); ok && strings.HasSuffix(inner, "]") {
		_ = j.check(t, c.name+" without its array as id", []byte(`{"id":`+strings.TrimSuffix(inner, "]")+`,"name":"oak"}`))
	}
}

package template

import (
	"path"
	"slices"
	"strings"
	"testing"
)

// nodes is what stands at each place of things such as resources, a text or JSON. A place is the path of
// members from the thing, such as Log.RetentionInDays.
type nodes map[string]string

// value is what must stand at a place.
type value struct {
	of    string // things, as a pattern of path.Match
	place string
	want  string
}

// check checks that all things of a pattern have a value. It also checks that no other place has what must be
// in the table, if mustBeListed is not nil.
func (n nodes) check(t *testing.T, table []value, mustBeListed func(place, text string) bool) {
	t.Helper()
	unlisted := n.leaves(mustBeListed)
	for _, row := range table {
		things := 0
		for thing := range n {
			if matches, err := path.Match(row.of, thing); err != nil || !matches || strings.Contains(thing, ".") {
				continue
			}
			things++
			place := thing + "." + row.place
			if got, found := n[place]; got != row.want || !found {
				t.Errorf("%s is %q, want %q", place, got, row.want)
			}
			unlisted = slices.DeleteFunc(unlisted, func(leaf string) bool { return strings.HasPrefix(leaf+".", place+".") })
		}
		if things == 0 {
			t.Errorf("there is no %s", row.of)
		}
	}
	for _, place := range unlisted {
		t.Errorf("%s is %q, which is not in the table", place, n[place])
	}
}

// leaves returns the places without members that match.
func (n nodes) leaves(match func(place, text string) bool) (places []string) {
	hasMembers := map[string]bool{}
	for place := range n {
		hasMembers[place[:max(0, strings.LastIndex(place, "."))]] = true
	}
	for place, text := range n {
		if !hasMembers[place] && match != nil && match(place, text) {
			places = append(places, place)
		}
	}
	return places
}

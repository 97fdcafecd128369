package template

import (
	"cmp"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// tree is YAML as plain data. An intrinsic function of CloudFormation is text, as in "!Ref X", or a list that begins
// with its name, as in ["!If", condition, then, else].
type tree map[string]any

// TestMain runs the tests in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func parse(t *testing.T, file string) (parsed tree) {
	t.Helper()
	var document yaml.Node
	err := yaml.Unmarshal([]byte(read(t, file)), &document)
	untag(&document)
	if err = cmp.Or(err, document.Decode(&parsed)); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return parsed
}

// untag puts the names of intrinsic functions, which are YAML tags, into the data.
func untag(n *yaml.Node) {
	for _, child := range n.Content {
		untag(child)
	}
	if tag := n.Tag; strings.HasPrefix(tag, "!") && !strings.HasPrefix(tag, "!!") {
		n.Tag, n.Value = "", tag+" "+n.Value
		if n.Kind == yaml.SequenceNode {
			n.Content = append([]*yaml.Node{{Kind: yaml.ScalarNode, Value: tag}}, n.Content...)
		}
	}
}

// at returns the value at a path of names, nil if there is none.
func (t tree) at(path string) any {
	var value any = t
	for name := range strings.SplitSeq(path, ".") {
		parent, _ := value.(tree)
		value = parent[name]
	}
	return value
}

// text returns the value at a path as text.
func (t tree) text(path string) string { return text(t.at(path)) }

// text returns value as text, with a map as in <A:1 B:2> and a list as in <1 2>.
func text(value any) string {
	return strings.NewReplacer("map[", "<", "[", "<", "]", ">").Replace(fmt.Sprint(value))
}

// find returns the matches of a regular expression, each with its submatches.
func find(pattern, text string) [][]string {
	return regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
}

// sub returns the members at a path.
func (t tree) sub(path string) tree { members, _ := t.at(path).(tree); return members }

// list returns the items at a path.
func (t tree) list(path string) []any { items, _ := t.at(path).([]any); return items }

// resources returns the resources of a type, or with "" the template itself. It fails the test if there are none: a
// rule must have something to check.
func (t tree) resources(test *testing.T, kind string) map[string]tree {
	test.Helper()
	if kind == "" {
		return map[string]tree{"template.yaml": t}
	}
	found := map[string]tree{}
	for name := range t.sub("Resources") {
		if r := t.sub("Resources." + name); r["Type"] == kind {
			found[name] = r
		}
	}
	if len(found) == 0 {
		test.Errorf("template.yaml has no %s", kind)
	}
	return found
}

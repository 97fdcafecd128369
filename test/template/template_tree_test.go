package template

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// template is template.yaml as plain data. CloudFormation's functions are text
// in it: `!Ref X` is "!Ref X"; one with a list is a map of one entry, as in
// "!If": [condition, then, else].
type template map[string]any

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

func parseTemplate(content string) (template, error) {
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(content), &document); err != nil {
		return nil, err
	}
	if len(document.Content) == 0 {
		return nil, errors.New("the template is empty")
	}
	tree, _ := plain(document.Content[0]).(map[string]any)
	return tree, nil
}

func plain(n *yaml.Node) any {
	function := strings.HasPrefix(n.Tag, "!") && !strings.HasPrefix(n.Tag, "!!")
	switch n.Kind {
	case yaml.MappingNode:
		members := map[string]any{}
		for pair := range slices.Chunk(n.Content, 2) {
			members[pair[0].Value] = plain(pair[1])
		}
		return members
	case yaml.SequenceNode:
		items := []any{}
		for _, item := range n.Content {
			items = append(items, plain(item))
		}
		if function {
			return map[string]any{n.Tag: items}
		}
		return items
	}
	if function {
		return n.Tag + " " + n.Value
	}
	var scalar any
	if err := n.Decode(&scalar); err != nil {
		return err
	}
	return scalar
}

// at returns the value at a path of names, and nil where there is none.
func (t template) at(path string) any {
	var value any = map[string]any(t)
	for name := range strings.SplitSeq(path, ".") {
		parent, _ := value.(map[string]any)
		value = parent[name]
	}
	return value
}

// text returns the value at a path as it would be printed.
func (t template) text(path string) string { return fmt.Sprint(t.at(path)) }

// names returns the sorted names of the members at a path.
func (t template) names(path string) []string {
	members, _ := t.at(path).(map[string]any)
	return slices.Sorted(maps.Keys(members))
}

// list returns the items at a path.
func (t template) list(path string) []any {
	items, _ := t.at(path).([]any)
	return items
}

// resources returns the sorted names of the resources of a type.
func (t template) resources(kind string) []string {
	return slices.DeleteFunc(t.names("Resources"), func(name string) bool {
		return t.text("Resources."+name+".Type") != kind
	})
}

// mentions tells whether a printed resource refers to the resource of that name.
func mentions(text, name string) bool {
	for _, form := range []string{"!Ref " + name, "!GetAtt " + name + ".", "${" + name + "}", "${" + name + "."} {
		if strings.Contains(text, form) {
			return true
		}
	}
	return false
}

// Package openapitest gives tests what openapi.yaml says, and plants made from its examples: with another
// key or other members, these plants change with openapi.yaml.
package openapitest

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"

	"go.yaml.in/yaml/v3"

	openapi "plantstore"
)

// document returns openapi.yaml.
var document = sync.OnceValue(func() (parsed any) {
	if err := yaml.Unmarshal(openapi.YAML, &parsed); err != nil {
		panic(err)
	}
	return parsed
})

// At returns the value that path leads to in openapi.yaml, or nil.
func At(path ...string) any {
	value := document()
	for _, name := range path {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

// Names returns the names of an object's members, sorted.
func Names(object any) []string {
	members, _ := object.(map[string]any)
	return slices.Sorted(maps.Keys(members))
}

// Members returns the members of a schema in openapi.yaml, sorted.
func Members(schema string) []string { return Names(At("components", "schemas", schema, "properties")) }

// Texts returns those members of a Plant that take any text, sorted. There must be one.
func Texts() []string {
	texts := slices.DeleteFunc(Members("Plant"), func(name string) bool { return !takesAnyText(name) })
	if len(texts) == 0 {
		panic("openapi.yaml: no member of a Plant takes any text: take out the cases of test/contract that use one")
	}
	return texts
}

// takesAnyText reports whether a member of a Plant is a string, and has no rule about which.
func takesAnyText(member string) bool {
	schema := At("components", "schemas", "Plant", "properties", member)
	hasRule := slices.ContainsFunc(Names(schema), func(keyword string) bool {
		return slices.Contains([]string{"format", "pattern", "enum", "const", "minLength", "maxLength"}, keyword)
	})
	return !hasRule && At("components", "schemas", "Plant", "properties", member, "type") == "string"
}

// Key returns the member of a NewPlant that a Plant does not have.
func Key() string {
	ofPlant := Members("Plant")
	keys := slices.DeleteFunc(Members("NewPlant"), func(name string) bool { return slices.Contains(ofPlant, name) })
	if len(keys) != 1 {
		panic(fmt.Sprintf("openapi.yaml: a NewPlant has the members %q besides those of a Plant, want one, its key", keys))
	}
	return keys[0]
}

// ID returns the n-th value of the key, as it stands in a path. [NewPlant] quotes a key that is a string.
func ID(n int64) string { return fmt.Sprint(n) }

// Plant returns the Plant of an example of openapi.yaml, as the service answers it. There are two, sorted by
// their names: 0 has every member.
func Plant(example int) string { return asJSON(members(example)) }

// PlantOf returns the first example with the text that each of [Texts] gets.
func PlantOf(text func(member string) string) string {
	p := members(0)
	for _, member := range Texts() {
		p[member] = text(member)
	}
	return asJSON(p)
}

// members returns the members of the Plant of an example.
func members(example int) map[string]any {
	path := []string{"paths", "/plants", "post", "requestBody", "content", "application/json", "examples"}
	names := Names(At(path...))
	value, _ := At(append(path, names[example], "value")...).(map[string]any)
	p := maps.Clone(value)
	delete(p, Key())
	return p
}

// PlantWith returns the first example with a text for one of [Texts], and empty ones for the others.
func PlantWith(member, text string) string {
	return PlantOf(func(other string) string {
		if other == member {
			return text
		}
		return ""
	})
}

// NewPlant returns a plant with an id, as a NewPlant.
func NewPlant(id, plant string) string {
	if At("components", "schemas", "NewPlant", "properties", Key(), "type") == "string" {
		id = strconv.Quote(id)
	}
	return fmt.Sprintf(`{%q:%s,%s`, Key(), id, plant[1:])
}

func asJSON(value any) string {
	content, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(content)
}

// Package openapitest gives tests what openapi.yaml says, and plants made from its examples: with another
// key or other members, these plants change with openapi.yaml.
package openapitest

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"slices"
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

// Texts returns those members of a Plant that are texts, sorted.
func Texts() []string {
	return slices.DeleteFunc(Members("Plant"), func(name string) bool {
		return At("components", "schemas", "Plant", "properties", name, "type") != "string"
	})
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

// ID returns the n-th value of the key. [NewPlant] makes it JSON.
func ID(n int64) string { return fmt.Sprint(n) }

// Plant returns the Plant of an example of openapi.yaml, as the service answers it. There are two, 0
// and 1.
func Plant(example int) string {
	path := []string{"paths", "/plants", "post", "requestBody", "content", "application/json", "examples"}
	names := Names(At(path...))
	value, _ := At(append(path, names[example], "value")...).(map[string]any)
	p := maps.Clone(value)
	delete(p, Key())
	return asJSON(p)
}

// PlantOf returns a Plant with the text that each member gets.
func PlantOf(text func(member string) string) string {
	members := map[string]string{}
	for _, member := range Texts() {
		members[member] = text(member)
	}
	return asJSON(members)
}

// PlantWith returns a Plant with a text for one member, and empty ones for the others.
func PlantWith(member, text string) string {
	return PlantOf(func(other string) string {
		if other == member {
			return text
		}
		return ""
	})
}

// NewPlant returns a plant with an id, as a NewPlant.
func NewPlant(id, plant string) string { return fmt.Sprintf(`{%q:%s,%s`, Key(), id, plant[1:]) }

func asJSON(value any) string {
	content, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(content)
}

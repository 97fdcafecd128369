// Package openapitest gives tests what openapi.yaml says, and plants made from its schemas and examples: with
// another key or other members, these plants change with openapi.yaml.
package openapitest

import (
	"encoding/json/v2"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	openapi "plantstore"
	"plantstore/internal/plant"
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

// key returns the name that the key of a plant has in JSON: that of the field ID.
func key() string {
	field, _ := reflect.TypeFor[plant.NewPlant]().FieldByName("ID")
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// Others returns the members of a NewPlant without its key, sorted.
func Others() []string {
	return slices.DeleteFunc(Members("NewPlant"), func(name string) bool { return name == key() })
}

// Texts returns those of [Others] that take any text. There must be one.
func Texts() []string {
	texts := slices.DeleteFunc(Others(), func(name string) bool { return !takesAnyText(name) })
	if len(texts) == 0 {
		panic("openapi.yaml: no member of a NewPlant takes any text: take out the cases of test/contract that use one")
	}
	return texts
}

// takesAnyText reports whether a member is a string, and has no rule about which.
func takesAnyText(member string) bool {
	hasRule := slices.ContainsFunc(Names(schema(member)), func(keyword string) bool {
		return slices.Contains([]string{"format", "pattern", "enum", "const", "minLength", "maxLength"}, keyword)
	})
	return !hasRule && schema(member)["type"] == "string"
}

// schema returns the schema of a member of a NewPlant.
func schema(member string) map[string]any {
	s, _ := At("components", "schemas", "NewPlant", "properties", member).(map[string]any)
	return s
}

// ID returns the n-th value of the key, as it stands in a path. n may be negative. [NewPlant] quotes a key that
// is a string.
func ID(n int64) string { return fmt.Sprint(n) }

// Plant returns an example of openapi.yaml without its key. There are two, sorted by their names: 0 has every
// member.
func Plant(example int) string { return asJSON(members(example)) }

// PlantOf returns the first example with the text that each of [Texts] gets.
func PlantOf(text func(member string) string) string {
	p := members(0)
	for _, member := range Texts() {
		p[member] = text(member)
	}
	return asJSON(p)
}

// members returns the members of an example without its key.
func members(example int) map[string]any {
	path := []string{"paths", "/plants", "post", "requestBody", "content", "application/json", "examples"}
	names := Names(At(path...))
	value, _ := At(append(path, names[example], "value")...).(map[string]any)
	p := maps.Clone(value)
	delete(p, key())
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

// Changed returns a plant with another value of a member: one that the member's schema lists in enum or examples,
// unless it takes any text.
func Changed(plant, member string) string {
	var p map[string]any
	if err := json.Unmarshal([]byte(plant), &p); err != nil {
		panic(err)
	}
	p[member] = otherValue(member, p[member])
	return asJSON(p)
}

func otherValue(member string, value any) any {
	if takesAnyText(member) {
		return fmt.Sprint(value, " changed")
	}
	for _, list := range []string{"enum", "examples"} {
		listed, _ := schema(member)[list].([]any)
		for _, other := range listed {
			if fmt.Sprint(other) != fmt.Sprint(value) {
				return other
			}
		}
	}
	panic("openapi.yaml: NewPlant: " + member + ": list two values in examples, in quotes if they are dates")
}

// NewPlant returns a plant with an id, as a NewPlant.
func NewPlant(id, plant string) string {
	if schema(key())["type"] == "string" {
		id = strconv.Quote(id)
	}
	return WithKey(id, plant)
}

// WithKey returns a plant with this JSON value as its key, valid or not.
func WithKey(value, plant string) string {
	return fmt.Sprintf(`{%q:%s,%s`, key(), value, plant[1:])
}

// Created returns what the service answers to a NewPlant: it has the key if the schema Plant does.
func Created(id, plant string) string {
	if slices.Contains(Members("Plant"), key()) {
		return NewPlant(id, plant)
	}
	return plant
}

func asJSON(value any) string {
	content, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(content)
}

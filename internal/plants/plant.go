// Package plants is the operation POST /plants: what a plant is, how it is created, and where it is kept.
package plants

import (
	"encoding/json/jsontext"
	"encoding/json/v2"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Plant is the answer to a creation.
type Plant struct {
	Name string  `json:"name" dynamodbav:"name"`
	Tag  *string `json:"tag,omitzero" dynamodbav:"tag,omitempty"` // an empty one is kept
}

// NewPlant is what a client creates.
type NewPlant struct {
	ID int64 `dynamodbav:"id"`
	Plant
}

// decode returns the NewPlant in a body, or an error that says what is wrong. It accepts what the specification's table
// accepts, and ignores other members.
//
// Package json also refuses what two programs could read differently: a name that occurs twice or in another case, and
// bytes that are not UTF-8.
func decode(body []byte) (NewPlant, error) {
	var members struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	err := json.Unmarshal(body, &members)
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok { // its text may repeat what was sent
		return NewPlant{}, fmt.Errorf(
			"it must be JSON in UTF-8, in which no name occurs twice; look after byte %d", syntax.ByteOffset)
	}
	if err != nil || jsontext.Value(body).Kind() != jsontext.KindBeginObject {
		return NewPlant{}, errors.New("it must be an object")
	}
	var p NewPlant
	var problems []string
	check := func(ok bool, name string, value jsontext.Value, problem string) {
		if value == nil {
			problem = "is required"
		}
		if !ok {
			problems = append(problems, name+" "+problem)
		}
	}
	var ok bool
	p.ID, ok = parseInt64(members.ID)
	check(ok, "id", members.ID, "must be an integer of 64 bits (beyond 2^53, in digits alone)")
	p.Name, ok = parseString(members.Name)
	check(ok, "name", members.Name, "must be a string")
	if members.Tag != nil {
		tag, ok := parseString(members.Tag)
		check(ok, "tag", members.Tag, "must be a string")
		p.Tag = &tag
	}
	if problems != nil {
		return NewPlant{}, errors.New(strings.Join(problems, "; "))
	}
	return p, nil
}

// parseInt64 takes 1.0 and 1e3 for integers, as JSON Schema does. It reads them as float64, which is exact up to 2^53.
func parseInt64(value jsontext.Value) (n int64, ok bool) {
	if n, err := strconv.ParseInt(string(value), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(value), 64)
	return int64(f), err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53
}

func parseString(value jsontext.Value) (text string, ok bool) {
	ok = value.Kind() == jsontext.KindString && json.Unmarshal(value, &text) == nil
	return text, ok
}

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

// decode returns the NewPlant in a body, or an error that says what is wrong. It accepts what openapi.yaml describes. Package
// json ignores other members, and refuses duplicate names and bytes that are not UTF-8, which another program could read
// differently.
func decode(body []byte) (NewPlant, error) {
	if len(body) == 0 {
		return NewPlant{}, errors.New("it is empty")
	}
	var members struct {
		ID   jsontext.Value `json:"id"`
		Name jsontext.Value `json:"name"`
		Tag  jsontext.Value `json:"tag"`
	}
	err := json.Unmarshal(body, &members)
	if syntax, ok := errors.AsType[*jsontext.SyntacticError](err); ok { // its text may repeat what was sent
		problem := "it cannot be read as JSON in UTF-8"
		if errors.Is(err, jsontext.ErrDuplicateName) {
			problem = "no name may occur twice"
		}
		return NewPlant{}, fmt.Errorf("%s: there is an error after byte %d", problem, syntax.ByteOffset)
	}
	if err != nil || jsontext.Value(body).Kind() != jsontext.KindBeginObject {
		return NewPlant{}, errors.New("it must be an object")
	}
	var plant NewPlant
	var idErr, nameErr, tagErr error
	plant.ID, idErr = parseInt64("id", members.ID)
	plant.Name, nameErr = parseString("name", members.Name)
	if members.Tag != nil {
		var tag string
		tag, tagErr = parseString("tag", members.Tag)
		plant.Tag = &tag
	}
	if err := errors.Join(idErr, nameErr, tagErr); err != nil {
		return NewPlant{}, errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return plant, nil
}

// parseInt64 takes 1.0 and 1e3 for integers, as JSON Schema does, if they have at most 17 characters and are below 2^53.
// Within these limits, float64 holds every integer exactly, and turns no other number into one, except into 0.
func parseInt64(name string, value jsontext.Value) (n int64, err error) {
	if value == nil {
		return 0, fmt.Errorf("%s is required", name)
	}
	text := string(value)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	roundedTo0 := f == 0 && strings.ContainsAny(mantissa, "123456789")
	if err != nil || len(text) > 17 || f != math.Trunc(f) || math.Abs(f) >= 1<<53 || roundedTo0 {
		return 0, fmt.Errorf("%s must be an integer of 64 bits (write it in digits, without quotes)", name)
	}
	return int64(f), nil
}

func parseString(name string, value jsontext.Value) (text string, err error) {
	if value == nil {
		return "", fmt.Errorf("%s is required", name)
	}
	if value.Kind() != jsontext.KindString || json.Unmarshal(value, &text) != nil {
		return "", fmt.Errorf("%s must be a string", name)
	}
	return text, nil
}

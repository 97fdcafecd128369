package template

import (
	"bytes"
	"encoding/json"
)

// policy is a policy of IAM.
type policy struct{ Statement []statement }

type statement struct {
	Effect    string
	Principal map[string]any
	Action    list
	Resource  list
	Condition any
}

// UnmarshalJSON decodes a statement, or the first of the two that Fn::If chooses from. It refuses
// what the rules do not read, such as NotAction.
func (s *statement) UnmarshalJSON(text []byte) error {
	var choice struct {
		If []json.RawMessage `json:"Fn::If"`
	}
	if err := json.Unmarshal(text, &choice); err != nil {
		return err
	}
	if len(choice.If) > 1 {
		text = choice.If[1]
	}
	type plain statement // without this method
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	return decoder.Decode((*plain)(s))
}

// grants returns what a policy allows, as in "dynamodb:PutItem on PlantsTable".
func (p policy) grants() (grants []string) {
	for _, s := range p.Statement {
		for _, action := range s.Action {
			for _, resource := range s.Resource {
				grants = append(grants, action+" on "+resource)
			}
		}
	}
	return grants
}

// list is a list of texts and references, or one without a list. Of a reference, the name remains.
type list []string

func (l *list) UnmarshalJSON(text []byte) error {
	var value any
	if err := json.Unmarshal(text, &value); err != nil {
		return err
	}
	values, isList := value.([]any)
	if !isList {
		values = []any{value}
	}
	for _, value := range values {
		*l = append(*l, target(value))
	}
	return nil
}

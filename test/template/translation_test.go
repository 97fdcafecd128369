package template

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/test/processtest"
)

// translate returns the stack that CloudFormation makes of SAM's translation, for each set of parameters. It has cfn-lint
// check the translation, for example for references that lead nowhere and for cycles.
func translate(t *testing.T, sets []map[string]string) (stacks []tree) {
	t.Helper()
	sam, err := exec.LookPath("sam")
	if err != nil {
		processtest.Lacks(t, "SAM: pip install --no-deps -r tools/requirements.txt")
	}
	python, _, _ := strings.Cut(strings.TrimPrefix(read(t, sam), "#!"), "\n")
	command := exec.CommandContext(t.Context(), python, "test/template/translate.py")
	input, _ := json.Marshal(sets) // they are text
	command.Stdin = bytes.NewReader(input)
	var message strings.Builder
	command.Stderr = &message
	output, err := command.Output()
	if err != nil {
		t.Fatalf("SAM cannot translate template.yaml: %v\n%s", err, message.String())
	}
	var translations []tree
	if err := yaml.Unmarshal(output, &translations); err != nil { // nested objects become trees too
		t.Fatal(err)
	}
	for i, translation := range translations {
		r := resolver{sets[i], translation.sub("Conditions")}
		stacks = append(stacks, r.resolve(translation).(tree))
	}
	file := filepath.Join(t.TempDir(), "template.json")
	translation, _ := json.Marshal(translations[0]) // it was JSON
	if err := os.WriteFile(file, translation, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, "cfn-lint", file)
	return stacks
}

// resolver evaluates the intrinsic functions whose result depends on parameters alone.
type resolver struct {
	parameters map[string]string
	conditions tree
}

// noValue is the value of !Ref AWS::NoValue, which removes a member.
type noValue struct{}

func (r resolver) resolve(value any) any {
	switch value := value.(type) {
	case []any:
		items := []any{}
		for _, item := range value {
			if item = r.resolve(item); item != (noValue{}) {
				items = append(items, item)
			}
		}
		return items
	case tree:
		return r.object(value)
	}
	return value
}

func (r resolver) object(object tree) any {
	if name := object.text("Ref"); name == "AWS::NoValue" {
		return noValue{}
	} else if parameter, ok := r.parameters[name]; ok {
		return parameter
	}
	if choice := object.list("Fn::If"); choice != nil {
		if r.holds(tree{"Condition": choice[0]}) {
			return r.resolve(choice[1])
		}
		return r.resolve(choice[2])
	}
	members := tree{}
	for name, member := range object {
		if m, _ := member.(tree); m["Condition"] != nil && m["Type"] != nil && !r.holds(tree{"Condition": m["Condition"]}) {
			continue // the stack does not have this resource
		}
		if member = r.resolve(member); member != (noValue{}) {
			members[name] = member
		}
	}
	if text, ok := object["Fn::Sub"].(string); ok {
		for name, parameter := range r.parameters {
			text = strings.ReplaceAll(text, "${"+name+"}", parameter)
		}
		members["Fn::Sub"] = text
	}
	return members
}

// holds evaluates a condition.
func (r resolver) holds(condition any) bool {
	for operator, operand := range condition.(tree) {
		operands, _ := operand.([]any)
		switch operator {
		case "Condition":
			return r.holds(r.conditions[operand.(string)])
		case "Fn::Equals":
			return r.resolve(operands[0]) == r.resolve(operands[1])
		case "Fn::Not":
			return !r.holds(operands[0])
		case "Fn::And":
			return !slices.ContainsFunc(operands, func(o any) bool { return !r.holds(o) })
		case "Fn::Or":
			return slices.ContainsFunc(operands, r.holds)
		}
	}
	panic(fmt.Sprintf("unknown condition %v", condition))
}

// refused reports whether a rule of a resolved stack forbids its parameters.
func refused(stack tree, parameters map[string]string) bool {
	r := resolver{parameters, nil}
	for name := range stack.sub("Rules") {
		condition := stack.at("Rules." + name + ".RuleCondition")
		for _, assertion := range stack.list("Rules." + name + ".Assertions") {
			if (condition == nil || r.holds(condition)) && !r.holds(assertion.(tree)["Assert"]) {
				return true
			}
		}
	}
	return false
}

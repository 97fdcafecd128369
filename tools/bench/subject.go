package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// subject is a function under measurement, with the event that it gets.
type subject struct {
	name, source string
	binary       string
	environment  []string
	event        []byte
	want         string // is in each answer
}

// newSubjects builds the functions into folder. The empty function comes first.
// Ours find the roots that they have embedded by the variables of trusted, the
// default way those of a system by the variables of system.
func newSubjects(folder string, trusted, system []string) ([]subject, error) {
	create, err := event("createplant")
	if err != nil {
		return nil, err
	}
	authorize, err := event("authorizer")
	if err != nil {
		return nil, err
	}
	variables, err := templateVariables()
	if err != nil {
		return nil, err
	}
	ours := slices.Concat(variables, trusted)
	mistyped := bytes.Replace(authorize, []byte("001Havmq"), []byte("002Havmq"), 1)
	subjects := []subject{
		{name: "empty", source: "tools/bench/empty", event: create, want: "200"},
		{name: "empty, our variables", source: "tools/bench/empty", environment: variables, event: create, want: "200"},
		{name: "default way", source: "tools/bench/baseline", environment: system, event: create, want: "Monstera"},
		{name: "createplant", source: "cmd/createplant", environment: ours, event: create, want: "Monstera"},
		{name: "authorizer", source: "cmd/authorizer", environment: ours, event: authorize, want: "allow"},
		{name: "authorizer, wrong checksum", source: "cmd/authorizer", environment: ours, event: mistyped, want: "deny"},
	}
	for i := range subjects {
		s := &subjects[i]
		s.binary = filepath.Join(folder, filepath.Base(s.source), "bootstrap")
		s.environment = append([]string{
			"PLANTS_TABLE=plants", "TOKENS_TABLE=tokens", "AWS_REGION=us-east-1",
			"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=" + strings.Repeat("t", 700),
		}, s.environment...)
		if err := build(s.source, s.binary); err != nil {
			return nil, err
		}
	}
	return subjects, nil
}

// event returns a sample event, as compact as API Gateway sends it.
func event(function string) ([]byte, error) {
	content, err := os.ReadFile(filepath.Join("events", function, "create.json"))
	if err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err = json.Compact(&compact, content)
	return compact.Bytes(), err
}

// build builds a function into binary: ours by the Makefile, as SAM does, the
// empty one without what only helps ours, and the default way as Go does by
// default.
func build(source, binary string) error {
	var command *exec.Cmd
	switch source {
	case "tools/bench/empty":
		command = exec.Command("go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", binary, "./"+source)
	case "tools/bench/baseline":
		command = exec.Command("go", "build", "-o", binary, "./"+source)
	default:
		target := map[string]string{"cmd/createplant": "build-CreatePlantFunction", "cmd/authorizer": "build-AuthorizerFunction"}[source]
		architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
		command = exec.Command("make", target, "ARCH="+architecture, "ARTIFACTS_DIR="+filepath.Dir(binary))
	}
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", command.Args, err, out)
	}
	return nil
}

// templateVariables returns the variables that template.yaml gives to every
// function.
func templateVariables() (variables []string, err error) {
	content, err := os.ReadFile("template.yaml")
	if err != nil {
		return nil, err
	}
	var template struct {
		Globals struct {
			Function struct {
				Environment struct {
					Variables map[string]string `yaml:"Variables"`
				} `yaml:"Environment"`
			} `yaml:"Function"`
		} `yaml:"Globals"`
	}
	err = yaml.Unmarshal(content, &template)
	for name, value := range template.Globals.Function.Environment.Variables {
		if value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	return variables, err
}

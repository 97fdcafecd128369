package main

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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

// newSubjects builds the functions into folder, the empty one first. They trust the
// stand-in with this certificate.
func newSubjects(folder string, certificate tls.Certificate) []subject {
	create, authorize := event("createplant"), event("authorizer")
	mistyped := bytes.Replace(authorize, []byte("SampleToken"), []byte("SimpleToken"), 1)
	trusted, system := trust(folder, certificate)
	variables := templateVariables()
	ours := slices.Concat(variables, trusted)
	issuer, bearer := newIssuer(certificate)
	jwt := regexp.MustCompile(`pst_\w+`).ReplaceAll(authorize, []byte(bearer))
	subjects := []subject{
		{name: "empty", source: "tools/bench/empty", event: create, want: "200"},
		{name: "empty, our variables", source: "tools/bench/empty", environment: variables, event: create, want: "200"},
		{name: "default way", source: "tools/bench/baseline", environment: system, event: create, want: "Monstera"},
		{name: "createplant", source: "cmd/createplant", environment: ours, event: create, want: "Monstera"},
		{name: "authorizer", source: "cmd/authorizer", environment: ours, event: authorize, want: "allow"},
		{name: "authorizer, wrong checksum", source: "cmd/authorizer", environment: ours, event: mistyped, want: "deny"},
		{name: "authorizer, JWT", source: "cmd/authorizer", environment: slices.Concat(variables, system, issuer), event: jwt, want: "allow"},
	}
	for i := range subjects {
		s := &subjects[i]
		s.binary = filepath.Join(folder, filepath.Base(s.source), "bootstrap")
		s.environment = append([]string{
			"PLANTS_TABLE=plants", "TOKENS_TABLE=tokens", "AWS_REGION=us-east-1",
			"AWS_ACCESS_KEY_ID=AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY=secret", "AWS_SESSION_TOKEN=" + strings.Repeat("t", 700),
		}, s.environment...)
		s.build()
	}
	return subjects
}

// event returns a sample event, as compact as API Gateway sends it.
func event(function string) []byte {
	var compact bytes.Buffer
	check(json.Compact(&compact, must(os.ReadFile(filepath.Join("events", function, "create.json")))))
	return compact.Bytes()
}

// build builds a function: ours by the Makefile, as SAM does, the empty one without
// what only helps ours, and the default way as Go does by default.
func (s subject) build() {
	arguments := map[string][]string{
		"tools/bench/empty":    {"go", "build", "-tags", "lambda.norpc", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w"},
		"tools/bench/baseline": {"go", "build"},
		"cmd/createplant":      {"make", "build-CreatePlantFunction"},
		"cmd/authorizer":       {"make", "build-AuthorizerFunction"},
	}[s.source]
	if arguments[0] == "make" {
		architecture := map[string]string{"amd64": "x86_64", "arm64": "arm64"}[runtime.GOARCH]
		arguments = append(arguments, "ARCH="+architecture, "ARTIFACTS_DIR="+filepath.Dir(s.binary))
	} else {
		arguments = append(arguments, "-o", s.binary, "./"+s.source)
	}
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := command.CombinedOutput(); err != nil {
		check(fmt.Errorf("%v: %w\n%s", arguments, err, out))
	}
}

// templateVariables returns the variables that template.yaml gives to every
// function.
func templateVariables() (variables []string) {
	var template struct {
		Globals struct {
			Function struct {
				Environment struct {
					Variables map[string]string `yaml:"Variables"`
				} `yaml:"Environment"`
			} `yaml:"Function"`
		} `yaml:"Globals"`
	}
	check(yaml.Unmarshal(must(os.ReadFile("template.yaml")), &template))
	for name, value := range template.Globals.Function.Environment.Variables {
		if value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	return variables
}

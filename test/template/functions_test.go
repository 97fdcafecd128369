package template

import (
	"bytes"
	"compress/flate"
	"debug/elf"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"plantstore/test/processtest"
	"plantstore/test/runtimeapi"
)

// TestBuild checks what the targets of the Makefile build for a processor that is not
// this machine's: the binary is for it and needs no library, parameters.yaml names it,
// and any folder gives the same bytes, so that a deployment without a change deploys
// nothing. A cold start loads the zip, which has at most 3.8 MB.
func TestBuild(t *testing.T) {
	architecture, machine := "arm64", elf.EM_AARCH64
	if runtime.GOARCH == "arm64" {
		architecture, machine = "x86_64", elf.EM_X86_64
	}
	elsewhere := t.TempDir()
	run(t, "cp", "-R", "cmd", "internal", "go.mod", "go.sum", "Makefile", elsewhere)
	for name := range properties[function](t, production(t), "AWS::Lambda::Function") {
		t.Run(name, func(t *testing.T) {
			binary := build(t, ".", name, architecture, machine)
			if !bytes.Equal(binary, build(t, elsewhere, name, architecture, machine)) {
				t.Error("another folder gives other bytes")
			}
			var zip bytes.Buffer
			w, err := flate.NewWriter(&zip, flate.DefaultCompression)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := w.Write(binary); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			if zip.Len() > 3_800_000 {
				t.Errorf("its zip has %d bytes, want at most 3.8 MB", zip.Len())
			}
		})
	}
}

// build builds a function as `sam build` does, checks its processor and returns its binary.
func build(t *testing.T, folder, name, architecture string, machine elf.Machine) []byte {
	t.Helper()
	artifacts := filepath.Join(t.TempDir(), name)
	run(t, "make", "-C", folder, "build-"+name, "ARCH="+architecture, "ARTIFACTS_DIR="+artifacts)
	checkBuild(t, filepath.Join(artifacts, "bootstrap"), filepath.Join(artifacts, "../parameters.yaml"), architecture, machine)
	return []byte(read(t, filepath.Join(artifacts, "bootstrap")))
}

// checkBuild checks that a binary is for a processor and needs no library, and that
// `sam deploy` and `sam local` get that processor from the parameters.
func checkBuild(t *testing.T, binary, parameters, architecture string, machine elf.Machine) {
	t.Helper()
	var written struct {
		Architecture string `yaml:"Architecture"`
		Build        string `yaml:"Build"`
		Shift        string `yaml:"Shift"`
	}
	if err := yaml.Unmarshal([]byte(read(t, parameters)), &written); err != nil {
		t.Fatal(err)
	}
	if written.Architecture != architecture || written.Build == "" || written.Shift == "" {
		t.Errorf("the parameters are %+v, want the architecture %s, a build and a shift", written, architecture)
	}
	file, err := elf.NewFile(strings.NewReader(read(t, binary)))
	if err != nil {
		t.Fatal(err)
	}
	libraries, err := file.ImportedLibraries()
	if err != nil || len(libraries) > 0 || file.Machine != machine {
		t.Errorf("%s is for %v and needs %v (%v), want %v alone", binary, file.Machine, libraries, err, machine)
	}
}

// TestBuiltFunctions checks what `sam build` has built. SAM does not tell the Makefile for which processor it builds.
func TestBuiltFunctions(t *testing.T) {
	if os.Getenv("BUILT") == "" {
		t.Skip("skipped: `make build` runs this on what it built")
	}
	var built struct {
		Parameters struct {
			Architecture struct {
				Default string `yaml:"Default"`
			} `yaml:"Architecture"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal([]byte(read(t, ".aws-sam/build/template.yaml")), &built); err != nil {
		t.Fatal(err)
	}
	architecture := built.Parameters.Architecture.Default
	machine := map[string]elf.Machine{"arm64": elf.EM_AARCH64, "x86_64": elf.EM_X86_64}[architecture]
	for name := range properties[function](t, production(t), "AWS::Lambda::Function") {
		checkBuild(t, filepath.Join(".aws-sam/build", name, "bootstrap"), ".aws-sam/build/parameters.yaml", architecture, machine)
	}
}

// TestFunctions runs each function as Lambda does, with the variables that the template declares, on its sample events.
// Without its table's name, the function must exit with status 1 and log the variable's name.
func TestFunctions(t *testing.T) {
	s := production(t)
	for name := range properties[function](t, s, "AWS::Lambda::Function") {
		t.Run(name, func(t *testing.T) { testFunction(t, s, name) })
	}
}

func testFunction(t *testing.T, s stack, name string) {
	t.Helper()
	var connections atomic.Int32
	var called sync.Map // the operations of DynamoDB, by their name in a policy
	dynamoDB := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			connections.Add(1)
		} else {
			_, operation, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
			called.Store("dynamodb:"+operation, true)
		}
		fmt.Fprint(w, "{}") // a write is done, a read finds nothing
	}))
	defer dynamoDB.Close()
	var environment []string
	tableVariable := ""
	for variable, value := range properties[function](t, s, "AWS::Lambda::Function")[name].Environment.Variables {
		text, isText := value.(string)
		switch {
		case strings.HasSuffix(variable, "_TABLE"):
			tableVariable = variable
		case isText:
			environment = append(environment, variable+"="+text)
		}
	}
	environment = append(environment, processtest.Environment(dynamoDB.URL)...)
	command := strings.ToLower(strings.TrimSuffix(name, "Function"))
	binary := processtest.Build(t, "cmd/"+command)
	files, _ := filepath.Glob("events/" + command + "/*.json") // the pattern is well-formed
	if len(files) == 0 {
		t.Fatalf("events/%s has no sample event: add one to tools/seed/events.go", command)
	}
	log, err := invoke(t, binary, environment, files[0])
	if !strings.HasSuffix(fmt.Sprint(err), "exit status 1") || !strings.Contains(log, tableVariable+" is not set") {
		t.Errorf("without %s: %v, log %s, want exit status 1 and the variable's name", tableVariable, err, log)
	}
	log, err = invoke(t, binary, append(environment, tableVariable+"=table", "BUILD=b1"), files...)
	if err != nil || connections.Load() != 1 {
		t.Errorf("%v: %d connections before the first event (%v), want one; log %s", files, connections.Load(), err, log)
	}
	roleName := properties[function](t, s, "AWS::Lambda::Function")[name].Role.GetAtt[0]
	allowed := properties[role](t, s, "AWS::IAM::Role")[roleName].Policies[0].PolicyDocument.Statement[0].Action
	called.Range(func(operation, _ any) bool {
		if operation != allowed {
			t.Errorf("%s calls %v, and %s allows %v", name, operation, roleName, allowed)
		}
		return true
	})
	joined := strings.Count(log, `"lambda_request_id":"8476a536-`)
	if joined != len(files) || strings.Count(log, `"build":"b1"`) != joined || strings.Count(log, `"cold_start"`) != 1 {
		t.Errorf("%d events are logged as %s, want a line for each with Lambda's request id and the build", len(files), log)
	}
	for filterName, f := range properties[filter](t, s, "AWS::Logs::MetricFilter") {
		for _, comparison := range f.comparisons() {
			field := strings.TrimPrefix(comparison[0], "$.")
			// The access log is the gateway's. Of the events' tokens, none expires soon.
			if f.LogGroupName.Ref == "Log" && field != "expires_in_days" && !strings.Contains(log, `"`+field+`":`) {
				t.Errorf("%s reads %s, which the log %s lacks", filterName, field, log)
			}
		}
	}
}

// invoke starts a function, hands it the events in files, stops it and returns its log.
func invoke(t *testing.T, binary string, environment []string, files ...string) (log string, err error) {
	t.Helper()
	f, err := runtimeapi.Start(binary, environment...)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files) && err == nil; i++ {
		_, _, err = f.Invoke([]byte(read(t, files[i])), 10*time.Second)
	}
	f.Stop()
	return f.Log.String(), err
}

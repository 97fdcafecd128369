package contract

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

// TestBroken builds services that break a promise each, by a small change of the product, and tests them by
// a URL. It names the promises that a run against a deployment proves, and the case that refuses a service
// without each. Those that take WRITES=all are not proved where only one plant may be written.
func TestBroken(t *testing.T) {
	tests := []struct {
		name      string
		file      string // of the product
		from, to  string // the change
		writes    string // WRITES of the run
		refusedBy string
	}{
		{
			name: "the function ignores the verdict", refusedBy: "a token that nobody issued creates nothing",
			file: "internal/api/service.go", from: "if err != nil {\n\t\treturn r, nil, err\n\t}\n\to, known", to: "err = nil\n\to, known",
		},
		{
			name: "an invalid token creates a plant", refusedBy: "a token that nobody issued creates nothing",
			file: "internal/api/verdict.go", from: "return token.Principal{}, token.ErrInvalid", to: "return token.Principal{Subject: \"ann\"}, nil",
		},
		{
			name: "any scheme has a token", refusedBy: "another scheme",
			file: "internal/api/request.go", from: "!strings.EqualFold(authorization[:end], \"Bearer\")", to: "authorization == \"\"",
		},
		{
			name: "any secret is valid", refusedBy: "a token that nobody issued creates nothing",
			file: "internal/token/verifier.go", from: "Digest(bearer))) != 1", to: "Digest(bearer))) > 1",
		},
		{
			name: "a mistyped token is an internal error", refusedBy: "a token of 9000 characters",
			file: "internal/token/verifier.go", from: "return Principal{}, ReasonForm", to: "return Principal{}, errors.New(bearer)",
		},
		{
			name: "a key is that of every subject", refusedBy: "subjects do not share keys",
			file: "internal/plant/store.go", from: "subject+idempotencyKey", to: `idempotencyKey+subject[:0]`,
		},
		{
			name: "a retry is another request", refusedBy: "a retry after a lost answer gets the answer again",
			file: "internal/api/createplant.go", from: "if !sent {", to: "if !sent || key != \"\" {",
		},
		{
			name: "a plant replaces another", refusedBy: "a retry after a lost answer gets the answer again",
			file: "internal/dynamo/plants.go", from: `"attribute_not_exists("`, to: `"attribute_exists(" + plantKey + ") OR attribute_not_exists("`,
		},
		{
			name: "a retry may have another tag", refusedBy: "a retry after a lost answer gets the answer again",
			file: "internal/dynamo/plants.go", from: "!reflect.DeepEqual(plant.Plant(stored.plantAttributes), w.NewPlant.Plant)",
			to: `!reflect.DeepEqual(stored.Name, w.NewPlant.Name)`,
		},
		{
			name: "a name may be given twice", refusedBy: "a name twice",
			file: "internal/plant/decode.go", from: "value.IsValid()", to: "value.IsValid(jsontext.AllowDuplicateNames(true))",
		},
		{
			name: "a body of another type is taken", refusedBy: "another content type",
			file: "internal/api/createplant.go", from: "return nil, errContentType", to: "_ = s",
		},
		{
			name: "a malformed key is taken", refusedBy: "a key with a space",
			file: "internal/api/createplant.go", from: "return nil, errIdempotencyKey", to: "_ = s",
		},
		{
			name: "an error has status 500", refusedBy: "a retry after a lost answer gets the answer again",
			file: "internal/api/service.go", from: "http.StatusBadRequest", to: "http.StatusInternalServerError",
		},
		{
			name: "a plant may be too large for DynamoDB", refusedBy: "a plant one byte too large",
			file: "internal/plant/decode.go", from: "d.size > MaxSize", to: "d.size > 2*MaxSize",
		},
		{
			name: "a negative id is not stored", refusedBy: "a negative id is stored", writes: "all",
			file: "internal/dynamo/plants.go", from: "attributes, err :=", to: "if w.NewPlant.ID < 0 {\n\t\treturn nil\n\t}\n\tattributes, err :=",
		},
		{
			name: "an id is a float64", refusedBy: "ids that differ in the last digit are two", writes: "all",
			file: "internal/dynamo/plants.go", from: "w.NewPlant.ID,", to: "int64(float64(w.NewPlant.ID)),",
		},
		{
			name: "an empty tag is lost", refusedBy: "each text empty", writes: "all",
			file: "internal/plant/decode.go", from: "if members.Tag != nil", to: "if len(members.Tag) > 2",
		},
		{
			name: "unknown members are refused", refusedBy: "unknown members are ignored", writes: "all",
			file: "internal/plant/decode.go", from: "jsontext.AllowDuplicateNames(true)", to: "json.RejectUnknownMembers(true)",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			changed := overlay(t, test.file, test.from, test.to)
			if os.Getenv("SOAK") == "" {
				t.Skip("skipped: SOAK=1 builds the broken service and tests it")
			}
			s := serveBinary(t, processtest.Build(t, "cmd/plantstore", "-overlay="+changed))
			run := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestContract$")
			run.Env = append(os.Environ(), "CONTRACT_URL="+s.url, "TOKEN="+s.issue(t, "ann"), "OTHER_TOKEN="+s.issue(t, "bob"),
				"SUBJECT=ann", "WRITES="+test.writes)
			out, err := run.CombinedOutput()
			if refusal := "--- FAIL: TestContract/" + strings.ReplaceAll(test.refusedBy, " ", "_") + " "; err == nil || !strings.Contains(string(out), refusal) {
				t.Errorf("the run ends with %v and prints %s, want %q", err, out, refusal)
			}
		})
	}
}

// overlay returns a file for the flag -overlay of `go build`, by which a file of the product has another
// text in place of one that it must have.
func overlay(t *testing.T, file, from, to string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(content), from) != 1 {
		t.Fatalf("%s has %q %d times, want once", file, from, strings.Count(string(content), from))
	}
	folder := t.TempDir()
	changed, list := filepath.Join(folder, "changed.go"), filepath.Join(folder, "overlay.json")
	replacements, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{changed: strings.Replace(string(content), from, to, 1), list: string(replacements)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

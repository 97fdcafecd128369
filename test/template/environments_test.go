package template

import (
	"reflect"
	"slices"
	"strings"
	"testing"
)

// environment is a block of samconfig.toml for `sam deploy`.
type environment struct {
	answers
	StackName            string            `json:"stack_name"`
	FailOnEmptyChangeset bool              `json:"fail_on_empty_changeset"`
	ParameterOverrides   map[string]string `json:"parameter_overrides"`
	Sources              []string          // of the parameters; a later one overrides
	Tags                 string
}

// answers are the settings without which `sam deploy` asks.
type answers struct {
	Capabilities     string
	ConfirmChangeset *bool `json:"confirm_changeset"`
	ResolveS3        bool  `json:"resolve_s3"`
}

// TestEnvironments checks that `make deploy ENV=...` asks nothing: each stage has an
// environment of its name that sets every parameter, because SAM keeps the old value of
// one that is left out. `sam deploy` alone deploys dev.
func TestEnvironments(t *testing.T) {
	t.Parallel()
	s := production(t)
	build := map[string]string{"Architecture": "arm64", "Build": "b1", "Shift": "gradual"}
	var environments map[string]environment
	script(t, "sam", "environments.py", build, &environments)
	if !reflect.DeepEqual(environments["default"], environments["dev"]) {
		t.Errorf("the default is %+v, want dev, %+v", environments["default"], environments["dev"])
	}
	project := strings.TrimSuffix(environments["dev"].StackName, "-dev")
	want := answers{Capabilities: "CAPABILITY_IAM", ConfirmChangeset: new(false), ResolveS3: true}
	for _, value := range s.Parameters["Stage"].AllowedValues {
		stage, _ := value.(string)
		t.Run(stage, func(t *testing.T) {
			e := environments[stage]
			if want := project + "-" + stage; e.StackName != want || e.ParameterOverrides["Stage"] != stage {
				t.Errorf("it deploys the stack %s with the stage %s, want %s", e.StackName, e.ParameterOverrides["Stage"], want)
			}
			if !reflect.DeepEqual(e.answers, want) {
				t.Errorf("it has the settings %+v, want %+v", e.answers, want)
			}
			sources := []string{"file://environments.yaml", "its own list", "file://.aws-sam/build/parameters.yaml"}
			if !slices.Equal(e.Sources, sources) {
				t.Errorf("its parameters come from %q, want %q", e.Sources, sources)
			}
			for parameter := range s.Parameters {
				if _, ok := e.ParameterOverrides[parameter]; !ok {
					t.Errorf("it does not set %s", parameter)
				}
			}
		})
	}
}

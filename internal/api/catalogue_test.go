package api

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The catalogue stands in three places, and is the same in all of them.
func TestCatalogueIsTheSameEverywhere(t *testing.T) {
	var want []string
	for _, o := range catalogue {
		want = append(want, fmt.Sprint(o.Code, " ", o.Message))
	}
	for place, got := range map[string][]string{
		"openapi.yaml": catalogueOfOpenAPI(t),
		"README.md":    catalogueOfReadme(t),
	} {
		if !slices.Equal(got, want) {
			t.Errorf("the catalogue of %s = %q, want %q", place, got, want)
		}
	}
}

func catalogueOfOpenAPI(t *testing.T) (rows []string) {
	t.Helper()
	var document struct {
		Components struct {
			Schemas struct {
				Error struct {
					Properties struct {
						Error struct {
							OneOf []struct {
								Const       int
								Description string
							} `yaml:"oneOf"`
						}
					}
				} `yaml:"Error"`
			}
		}
	}
	if err := yaml.Unmarshal(read(t, "../../openapi.yaml"), &document); err != nil {
		t.Fatal(err)
	}
	for _, o := range document.Components.Schemas.Error.Properties.Error.OneOf {
		rows = append(rows, fmt.Sprint(o.Const, " ", o.Description))
	}
	return rows
}

func catalogueOfReadme(t *testing.T) (rows []string) {
	t.Helper()
	row := regexp.MustCompile(`(?m)^\| (\d{4}) \| (.*) \|$`)
	for _, match := range row.FindAllStringSubmatch(string(read(t, "../../README.md")), -1) {
		rows = append(rows, match[1]+" "+match[2])
	}
	return rows
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

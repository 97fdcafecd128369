package documents

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// No document names a target that the Makefile lacks, or links to a file or a
// heading that is not there.
func TestDocumentsAreTrue(t *testing.T) {
	makefile := read(t, "Makefile")
	documents, err := filepath.Glob("docs/*.md")
	if err != nil || len(documents) < 3 {
		t.Fatalf("docs holds %v, %v, want more", documents, err)
	}
	for _, document := range append(documents, "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "events/README.md") {
		text := read(t, document)
		targets := regexp.MustCompile("(?:`|\n)make ([a-z-]+)").FindAllStringSubmatch(text, -1)
		links := regexp.MustCompile(`\]\(([^):]+)\)`).FindAllStringSubmatch(text, -1)
		if document == "README.md" && (len(targets) < 5 || len(links) < 5) {
			t.Fatalf("README.md has %d targets and %d links, want more", len(targets), len(links))
		}
		for _, target := range targets {
			if !strings.Contains(makefile, "\n"+target[1]+":") {
				t.Errorf("%s names make %s, which the Makefile lacks", document, target[1])
			}
		}
		for _, link := range links {
			file, heading, _ := strings.Cut(link[1], "#")
			linked := document
			if file != "" {
				linked = path.Join(path.Dir(document), file)
			}
			if _, err := os.Stat(linked); err != nil {
				t.Errorf("%s links to %s: %v", document, link[1], err)
			} else if heading != "" && !hasHeading(read(t, linked), heading) {
				t.Errorf("%s links to %s, and %s has no such heading", document, link[1], linked)
			}
		}
	}
}

// hasHeading tells whether a document has the heading that GitHub gives that
// anchor.
func hasHeading(text, anchor string) bool {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		if strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-") == anchor {
			return true
		}
	}
	return false
}

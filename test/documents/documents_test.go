package documents

import (
	"bufio"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plantstore/test/processtest"
)

// TestMain runs the tests in the root of the repository.
func TestMain(m *testing.M) {
	if err := os.Chdir("../.."); err != nil {
		panic(err)
	}
	m.Run()
}

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// tracked returns the files of the repository.
func tracked(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files").Output()
	if err != nil {
		processtest.Lacks(t, "git and a clone")
	}
	return strings.Fields(string(out))
}

// TestDocumentsAreTrue checks that every target that a document names is in the Makefile, and that every link leads to
// a file and a heading.
func TestDocumentsAreTrue(t *testing.T) {
	makefile := read(t, "Makefile")
	found := map[string]int{}
	for _, document := range tracked(t) {
		if path.Ext(document) != ".md" {
			continue
		}
		text := read(t, document)
		for _, target := range regexp.MustCompile("(?:`|\n)make ([a-z0-9-]+)").FindAllStringSubmatch(text, -1) {
			found["targets"]++
			if !strings.Contains(makefile, "\n"+target[1]+":") {
				t.Errorf("%s names make %s, which the Makefile lacks", document, target[1])
			}
		}
		for _, link := range regexp.MustCompile(`\]\(([^):#]*)#?([^):]*)\)`).FindAllStringSubmatch(text, -1) {
			found["links"]++
			linked := path.Join(path.Dir(document), link[1])
			if link[1] == "" {
				linked = document
			}
			if _, err := os.Stat(linked); err != nil {
				t.Errorf("%s links to %s: %v", document, link[1], err)
			} else if link[2] != "" && !slices.Contains(headings(read(t, linked)), link[2]) {
				t.Errorf("%s links to the heading %s, which %s lacks", document, link[2], linked)
			}
		}
	}
	if found["targets"] < 10 || found["links"] < 10 {
		t.Errorf("the documents have %v, want more", found)
	}
}

// headings returns the anchors that GitHub gives to the headings of a document.
func headings(text string) (anchors []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-"))
	}
	return anchors
}

// TestFolders checks that README.md shows every folder of the root, and docs/architecture.md those and every package.
func TestFolders(t *testing.T) {
	missing := map[string]bool{}
	check := func(document, folder string) {
		shown := regexp.MustCompile("(?m)(^|`)" + regexp.QuoteMeta(folder) + "[/` ]")
		if !shown.MatchString(read(t, document)) {
			missing[document+" does not show the folder "+folder] = true
		}
	}
	for _, file := range tracked(t) {
		if top, _, nested := strings.Cut(file, "/"); nested {
			check("README.md", top)
			check("docs/architecture.md", top)
			if path.Ext(file) == ".go" {
				check("docs/architecture.md", path.Dir(file))
			}
		}
	}
	for problem := range missing {
		t.Error(problem)
	}
}

// TestMakeRun checks that `make run` prints the line that README.md shows, and that the line gets the answers that
// README.md shows.
func TestMakeRun(t *testing.T) {
	readme := read(t, "README.md")
	command := exec.Command("make", "run", "ADDR=127.0.0.1:0") //nolint:noctx // it stops by a signal
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	defer command.Wait()                                      //nolint:errcheck // make reports the signal
	defer syscall.Kill(-command.Process.Pid, syscall.SIGTERM) //nolint:errcheck // it runs
	curl := ""
	for lines := bufio.NewScanner(stdout); curl == "" && lines.Scan(); {
		if strings.Contains(lines.Text(), "curl") {
			curl = strings.TrimSpace(lines.Text())
		}
	}
	shown := regexp.MustCompile(`Bearer \w+`).ReplaceAllString(curl, "Bearer <ACCESS_TOKEN>")
	shown = regexp.MustCompile(`127.0.0.1:\d+`).ReplaceAllString(shown, "127.0.0.1:8080")
	if curl == "" || !strings.Contains(readme, "\n"+shown+"\n") {
		t.Fatalf("make run prints %q, want the line of README.md", shown)
	}
	for _, mark := range []string{"```json\n%s\n```", "gets status 400 and `%s`"} {
		answer, err := exec.CommandContext(t.Context(), "bash", "-c", curl).Output()
		want := strings.Replace(mark, "%s", strings.TrimSpace(string(answer)), 1)
		if err != nil || !strings.Contains(readme, want) {
			t.Errorf("%s = %s, %v, want what README.md shows", shown, answer, err)
		}
	}
}

// TestMakeHelp checks that `make help` shows every target that has a comment.
func TestMakeHelp(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "make", "help").Output()
	for _, target := range regexp.MustCompile(`(?m)^([a-z0-9-]+):.*## `).FindAllStringSubmatch(read(t, "Makefile"), -1) {
		if err != nil || !strings.Contains(string(out), "make "+target[1]+" ") {
			t.Errorf("make help = %s, %v, want a line for %s", out, err, target[1])
		}
	}
}

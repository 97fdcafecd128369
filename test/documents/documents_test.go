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

func TestMain(m *testing.M) { processtest.RunInRoot(m) }

func read(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// documents returns the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", "ls-files", "*.md").Output()
	if err != nil {
		processtest.Lacks(t, "git and a clone")
	}
	files := strings.Fields(string(out))
	if len(files) < 10 {
		t.Errorf("the documents are %q, want more", files)
	}
	return files
}

// TestTargets checks that `make help` lists every target that a document names, with the variables that the document sets.
func TestTargets(t *testing.T) {
	help, err := exec.CommandContext(t.Context(), "make", "help").Output()
	if err != nil {
		t.Fatal(err)
	}
	target := regexp.MustCompile("(?:`|\n)(make [a-z0-9-]+)((?: [A-Z]+=[^ `\n]*)*)")
	variable := regexp.MustCompile("[A-Z]+=")
	for _, document := range documents(t) {
		for _, match := range target.FindAllStringSubmatch(read(t, document), -1) {
			_, after, found := strings.Cut(string(help), match[1]+" ")
			if !found {
				t.Errorf("%s names %s, and `make help` lists %s", document, match[1], help)
			}
			line, _, _ := strings.Cut(after, "\n")
			for _, name := range variable.FindAllString(match[2], -1) {
				if !strings.Contains(line, name) {
					t.Errorf("%s sets %s for %s, and `make help` says %s", document, name, match[1], line)
				}
			}
		}
	}
}

// TestLinks checks that every link to the repository leads to a file, and to a heading if it names one.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^):#]*)#?([^):]*)\)`)
	for _, document := range documents(t) {
		for _, match := range link.FindAllStringSubmatch(read(t, document), -1) {
			file, heading := match[1], match[2]
			linked := path.Join(path.Dir(document), file)
			if file == "" {
				linked = document
			}
			if _, err := os.Stat(linked); err != nil {
				t.Errorf("%s links to %s: %v", document, file, err)
				continue
			}
			if heading != "" && !slices.Contains(headings(read(t, linked)), heading) {
				t.Errorf("%s links to the heading %s, which %s lacks", document, heading, linked)
			}
		}
	}
}

// headings returns the anchors that GitHub gives to the headings of a document.
func headings(text string) (anchors []string) {
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(text, -1) {
		anchors = append(anchors, strings.ReplaceAll(strings.ToLower(heading[1]), " ", "-"))
	}
	return anchors
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
	created := strings.TrimSpace(output(t, curl))
	if !strings.Contains(readme, "```json\n"+created+"\n```") {
		t.Errorf("%s = %s, want README.md to show it", shown, created)
	}
	exists := strings.TrimSpace(output(t, curl))
	if !strings.Contains(readme, "gets status 400 and `"+exists+"`") {
		t.Errorf("%s again = %s, want README.md to show it", shown, exists)
	}
}

// output returns what a command of the shell prints.
func output(t *testing.T, command string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "bash", "-c", command).Output()
	if err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	return string(out)
}

package coldstart

import (
	"io"
	"log"
	"log/slog"
	"strings"
)

// newLog returns a logger that writes JSON lines to w, each with the name of the build.
func newLog(w io.Writer, build string) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: renameTime})).With("build", build)
}

// renameTime names the time of a line as Lambda does, which otherwise adds a time of its own. Source:
// Lambda Developer Guide, "Log-level filtering".
func renameTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a.Key = "timestamp"
	}
	return a
}

// logFatalErrors makes package log write to logger what a main logs, and what aws-lambda-go's entry.go
// logs before it ends the process. All else is dropped: net/http logs unsolicited responses, including
// their bodies.
//
// It recognizes the two by the names of their source files, because nothing else tells them from net/http:
// neither library takes a logger, and both use the logger of package log. If a name changes, TestFatalErrors fails.
func logFatalErrors(logger *slog.Logger) {
	log.SetFlags(log.Lshortfile)
	log.SetOutput(fatalErrors{log: logger})
}

// fatalErrors takes lines of package log that begin with the name of a file.
type fatalErrors struct{ log *slog.Logger }

// Write implements [io.Writer].
func (f fatalErrors) Write(line []byte) (int, error) {
	file, text, _ := strings.Cut(strings.TrimSpace(string(line)), ": ")
	file, _, _ = strings.Cut(file, ":") // the number of the line
	if file == "main.go" || file == "entry.go" {
		f.log.Error("cannot run", "error", text)
	}
	return len(line), nil
}

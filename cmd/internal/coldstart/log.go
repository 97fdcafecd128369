package coldstart

import (
	"io"
	"log"
	"log/slog"
	"strings"
)

// newLog returns a logger that writes JSON lines to w, each with the version of the function.
func newLog(w io.Writer, version string) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: renameTime})).With("version", version)
}

// renameTime names the time of a line as Lambda does, which otherwise adds a time of its own. Source:
// Lambda Developer Guide, "Log-level filtering".
func renameTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		a.Key = "timestamp"
	}
	return a
}

// logFailures passes lines of package log on to logger. Each line begins with the name of the source file that logged
// it; that alone tells the lines apart, because aws-lambda-go and net/http both use package log, and take no other
// logger. It passes on:
//   - main.go: what a main logs before it exits
//   - entry.go: what aws-lambda-go logs before it ends the process
//   - invoke_loop.go: what aws-lambda-go logs of an invocation that failed, because Invoke returned an error
//
// It drops all others, because net/http logs unsolicited responses, including their bodies. If the name of a file
// changes, TestFatalErrors fails.
func logFailures(logger *slog.Logger) {
	log.SetFlags(log.Lshortfile)
	log.SetOutput(failureWriter{log: logger})
}

// failureWriter takes lines of package log that begin with the name of a file.
type failureWriter struct{ log *slog.Logger }

// Write implements [io.Writer].
func (w failureWriter) Write(line []byte) (int, error) {
	file, text, _ := strings.Cut(strings.TrimSpace(string(line)), ": ")
	file, _, _ = strings.Cut(file, ":") // the number of the line
	switch file {
	case "main.go", "entry.go":
		w.log.Error("cannot run", "error", text)
	case "invoke_loop.go":
		w.log.Error("invocation failed", "error", text)
	}
	return len(line), nil
}

package contract

import (
	_ "embed" // for conversations.txt
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

//go:embed testdata/conversations.txt
var text string

// A conversation is what is sent, one request after the other, and what each must get.
type conversation struct {
	name      string
	isProbe   bool
	exchanges []exchange
}

// An exchange is a request, and the answer that it must get.
type exchange struct {
	header http.Header
	body   string
	want   string // "200 PLANT" or "400 CODE"
}

// mentions reports whether a part of a request or an answer has this text.
func (c conversation) mentions(text string) bool {
	for _, e := range c.exchanges {
		if strings.Contains(e.header.Get("Authorization")+" "+e.want, text) {
			return true
		}
	}
	return false
}

// conversations reads conversations.txt.
func conversations() (all []conversation) {
	probe, _, _ := strings.Cut(text, "\n----\n")
	for i, section := range strings.Split(text, "\n# ")[1:] {
		name, lines, _ := strings.Cut(section, "\n")
		c := conversation{name: name, isProbe: i < strings.Count(probe, "\n# ")}
		next := exchange{header: http.Header{}}
		for line := range strings.SplitSeq(lines, "\n") {
			name, value, isHeader := strings.Cut(line, ":")
			switch {
			case line == "" || line == "----":
			case next.body == "" && isHeader && !strings.ContainsAny(name, `{"`):
				next.header[name] = append(next.header[name], strings.TrimSpace(value))
			case next.body == "":
				next.body = line
			default:
				next.want = line
				c.exchanges = append(c.exchanges, next)
				next = exchange{header: http.Header{}}
			}
		}
		all = append(all, c)
	}
	return all
}

var repeated = regexp.MustCompile(`(.)\{(\d+)\}`)

// repeat writes out what the file abbreviates: n{3} is nnn.
func repeat(text string) string {
	return repeated.ReplaceAllStringFunc(text, func(short string) string {
		parts := repeated.FindStringSubmatch(short)
		n, _ := strconv.Atoi(parts[2]) // it has digits
		return strings.Repeat(parts[1], n)
	})
}

package contract

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"plantstore/test/openapitest"
)

// A testCase is a conversation: requests that are sent one after the other, each with the answer that
// it must get.
type testCase struct {
	name  string
	steps []step
}

// writes reports whether the case changes what the service stores.
func (c testCase) writes() bool {
	return slices.ContainsFunc(c.steps, func(s step) bool { return s.method != http.MethodGet && s.want.code == 0 })
}

// needsOther reports whether the case needs a token of another subject.
func (c testCase) needsOther() bool {
	return slices.ContainsFunc(c.steps, func(s step) bool { return strings.Contains(s.header.Get("Authorization"), "$OTHER") })
}

// A step is a request and the answer that it must get. In its texts $1 and $2 stand for two ids that no
// other case has, and $-1 for the negative of the first. $TOKEN stands for the target's token, $FORGED for
// one that nobody issued and that differs only in its secret, and $OTHER for one of another subject.
type step struct {
	method string
	path   string
	header http.Header
	body   string
	want   want
}

// call returns a request with a valid token and the content type of JSON.
func call(method, path, body string) step {
	header := http.Header{"Authorization": {"Bearer $TOKEN"}, "Content-Type": {"application/json"}}
	return step{method: method, path: path, header: header, body: body}
}

func post(body string) step { return call("POST", "/plants", body) }

const idempotencyKey = "Idempotency-Key"

// with returns s with these values of a header instead of its own. Without values it has no such header.
func (s step) with(header string, values ...string) step {
	s.header = maps.Clone(s.header)
	s.header[header] = values
	return s
}

// gets returns s with the answer that it must get.
func (s step) gets(w want) step {
	s.want = w
	return s
}

func (s step) String() string {
	return fmt.Sprintf("%s %s with headers %.300q and body %.200q", s.method, s.path, s.header, s.body)
}

// want is an answer: 200 with a body, or 400 with an Error.
type want struct {
	status int
	body   string // of 200, as JSON
	code   int    // of the Error
}

// created returns the answer to a request that creates a plant, or repeats one that did.
func created(id, plant string) want {
	return want{status: http.StatusOK, body: openapitest.Created(id, plant)}
}

func refused(code int) want { return want{status: http.StatusBadRequest, code: code} }

// conversation returns a case of these requests.
func conversation(name string, steps ...step) testCase { return testCase{name: name, steps: steps} }

package deployment

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// gatewayClaims are about what API Gateway makes of a request.
var gatewayClaims = []claim{
	{name: "a request of unusual headers or body gets its error, and never 5001", check: func(r *rehearsal, t *testing.T) (finding string) {
		tests := []struct {
			name, header, value, body string
			want                      string
		}{
			{name: "an empty Authorization", header: "Authorization", value: "", want: `{"error":2001,`},
			{name: "a tab for the space", header: "Authorization", value: "Bearer\tx", want: `{"error":2002,`},
			{name: "a token with a letter beyond ASCII", header: "Authorization", value: "Bearer é", want: `{"error":2002,`},
			{name: "a byte that is not UTF-8", header: "Authorization", value: "\xff", want: `{"error":2001,`},
			{name: "a token with such a byte", header: "Authorization", value: "Bearer \xff", want: `{"error":2002,`},
			{name: "a key with a letter beyond ASCII", header: "Idempotency-Key", value: "schlüssel", body: "[]", want: `{"error":1006,`},
			{name: "a content type in odd spelling", header: "Content-Type", value: "Application/JSON ; charset=x; y", body: "[]", want: `{"error":1004,`},
			{name: "no body and no content type", header: "Content-Type", want: `{"error":1002,`},
		}
		for _, test := range tests {
			header := http.Header{"Authorization": {"Bearer " + r.token}, "Content-Type": {"application/json"}, test.header: {test.value}}
			if test.value == "" && test.header == "Content-Type" {
				delete(header, test.header)
			}
			status, _, body := r.send(t, http.MethodPost, "/plants", header, test.body)
			if !r.isLocal && status < http.StatusInternalServerError && !strings.HasPrefix(body, `{"error":`) {
				finding += fmt.Sprintf("%s gets an answer of API Gateway's own, %d `%.60s`; ", test.name, status, body)
				continue
			}
			if status != http.StatusBadRequest || !strings.HasPrefix(body, test.want) {
				t.Errorf("%s: %d %.200s, want 400 and %s", test.name, status, body, test.want)
			}
		}
		return finding + "all others as documented"
	}},
	{name: "a body in invalid UTF-8 gets 1003, and no plant is stored", notLocal: "it replaces bytes that are not UTF-8", check: func(r *rehearsal, t *testing.T) string {
		status, _, body := r.post(t, "{\"id\":-7,\"name\":\"\xff\"}")
		r.expect(t, strings.HasPrefix(body, `{"error":1003,`), "%d %s, want the error 1003", status, body)
		stored := r.aws(t, "Item.name.S", "dynamodb", "get-item", "--table-name", r.name(t, "PlantsTable"), "--key", `{"id":{"N":"-7"}}`)
		r.expect(t, stored == "None", "the plant %q is stored, want none", stored)
		return fmt.Sprint(status, " ", body)
	}},
	{name: "another path or method gets 404", check: func(r *rehearsal, t *testing.T) string {
		for _, request := range []string{"GET /plants", "POST /plant"} {
			method, path, _ := strings.Cut(request, " ")
			status, _, body := r.send(t, method, path, nil, "")
			if status != http.StatusNotFound {
				t.Errorf("%s = %d %s, want 404", request, status, body)
			}
		}
		return "404"
	}},
	{name: "above the throttle, API Gateway answers 429", notLocal: "it has no throttle", check: func(r *rehearsal, t *testing.T) string {
		api := r.name(t, "HttpApi")
		throttle := func(limits string) {
			r.aws(t, "StageName", "apigatewayv2", "update-stage", "--api-id", api, "--stage-name", "$default", "--default-route-settings", limits)
		}
		throttled := func() bool {
			for range 20 { // without a token, so that no alarm counts them
				if status, _, _ := r.send(t, http.MethodPost, "/plants", nil, ""); status == http.StatusTooManyRequests {
					return true
				}
			}
			return false
		}
		const normal = "ThrottlingRateLimit=1000,ThrottlingBurstLimit=500"
		defer throttle(normal)
		began := time.Now()
		throttle("ThrottlingRateLimit=1,ThrottlingBurstLimit=1")
		r.until(t, 5*time.Minute, throttled)
		throttle(normal)
		r.until(t, 5*time.Minute, func() bool { return !throttled() })
		return "429, and no longer after " + time.Since(began).Round(time.Second).String()
	}},
}

// expect fails the claim unless ok, if it can be shown.
func (r *rehearsal) expect(t *testing.T, ok bool, format string, arguments ...any) {
	t.Helper()
	if !ok && !r.dry {
		t.Errorf(format, arguments...)
	}
}

// send sends a request to the API.
func (r *rehearsal) send(t *testing.T, method, path string, header http.Header, body string) (status int, got http.Header, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, r.url+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err.Error()
	}
	request.Header = header.Clone()
	client := http.Client{Timeout: 40 * time.Second}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err.Error()
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, err.Error()
	}
	return response.StatusCode, response.Header, string(content)
}

// post sends a body with the token of alice.
func (r *rehearsal) post(t *testing.T, body string) (status int, got http.Header, answer string) {
	t.Helper()
	return r.send(t, http.MethodPost, "/plants", http.Header{"Authorization": {"Bearer " + r.token}, "Content-Type": {"application/json"}}, body)
}

// issue returns a token of a subject.
func (r *rehearsal) issue(t *testing.T, subject, lifetime string) string {
	t.Helper()
	printed := r.must(t, "bin/plantstore", "token", "issue", "--stack", rehearsalStack, "--subject", subject, "--ttl", lifetime)
	fields := strings.Fields(printed)
	return fields[len(fields)-1]
}

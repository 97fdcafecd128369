package deployment

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPages checks that a web page in a browser of this machine reaches the deployed APIs of the local
// AWS and nothing else, because its functions run as processes of this machine.
func TestPages(t *testing.T) {
	needs(t)
	local := start(t)
	const (
		health  = "GET /_ministack/health"
		api     = "/_aws/execute-api/0123abcd/plants"
		refused = "The local AWS refuses web pages and foreign hosts."
	)
	for _, test := range []struct {
		name    string
		request string
		host    string
		headers map[string]string
		want    string
	}{
		{name: "a program gets an answer", request: health, host: "127.0.0.1", want: `"services"`},
		{name: "localhost is this machine", request: health, host: "localhost:" + local.port, want: `"services"`},
		{
			name: "a typed address, which may be redirected here, is refused", request: health, host: "127.0.0.1",
			headers: map[string]string{"Sec-Fetch-Site": "none"}, want: refused,
		},
		{name: "a name that leads here by DNS rebinding is refused", request: health, host: "evil.example", want: refused},
		{name: "such a name does not reach an API", request: "GET " + api, host: "evil.example", want: refused},
		{name: "a name below localhost is refused", request: "GET /plants", host: "0123abcd.execute-api.localhost", want: refused},
		{
			name: "a page that sends a form is refused", request: "POST /2015-03-31/functions", host: "127.0.0.1",
			headers: map[string]string{"Origin": "https://evil.example", "Content-Type": "text/plain"}, want: refused,
		},
		{
			name: "a page that shows an image is refused", request: health, host: "127.0.0.1",
			headers: map[string]string{"Sec-Fetch-Site": "cross-site"}, want: refused,
		},
		{
			name: "a page that an API serves is refused", request: health, host: "127.0.0.1",
			headers: map[string]string{"Sec-Fetch-Site": "same-origin"}, want: refused,
		},
		{
			name: "a page reaches an API", request: "POST " + api, host: "127.0.0.1",
			headers: map[string]string{"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}, want: `"Not Found"`,
		},
		{
			name: "a path that only begins like an API's is refused", request: "POST /_aws/execute-api/x", host: "127.0.0.1",
			headers: map[string]string{"Origin": "https://evil.example", "X-Amz-Target": "DynamoDB_20120810.ListTables"}, want: refused,
		},
		{
			name: "so is the question whether a page may send that", request: "OPTIONS /_aws/execute-api/x", host: "127.0.0.1",
			headers: map[string]string{"Origin": "https://evil.example"}, want: refused,
		},
		{
			name: "so is a path without an API", request: "POST /_aws/execute-api//2015-03-31/functions", host: "127.0.0.1",
			headers: map[string]string{"Origin": "https://evil.example"}, want: refused,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			method, path, _ := strings.Cut(test.request, " ")
			request, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:"+local.port+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = test.host
			for name, value := range test.headers {
				request.Header.Set(name, value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close() //nolint:errcheck // it was read
			body, err := io.ReadAll(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(body), test.want) {
				t.Errorf("%s %s %v = %s, want %s", test.host, test.request, test.headers, body, test.want)
			}
		})
	}
}

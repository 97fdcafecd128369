package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The page loads its script and the contract from the same server. All other requests are for the API.
func TestPage(t *testing.T) {
	t.Parallel()
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "the API", http.StatusNotFound) })
	server := httptest.NewServer(withPage(api))
	t.Cleanup(server.Close)
	for _, test := range []struct {
		request string
		status  int
		want    string // in the answer
	}{
		{"GET /docs/", 200, `"/openapi.yaml"`},
		{"GET /docs/", 200, `src="/docs/swagger-ui-bundle.js"`},
		{"GET /docs", 200, `"/openapi.yaml"`},
		{"GET /docs/swagger-ui-bundle.js", 200, "SwaggerUIBundle"},
		{"GET /openapi.yaml", 200, "title: Plant Store"},
		{"GET /", 404, "the API"},
		{"GET /docsx", 404, "the API"},
		{"GET /plants", 404, "the API"},
		{"GET //openapi.yaml", 404, "the API"},
		{"POST /plants", 404, "the API"},
		{"POST /docs/", 404, "the API"},
	} {
		t.Run(test.request, func(t *testing.T) {
			method, path, _ := strings.Cut(test.request, " ")
			status, body := send(t, method, server.URL+path)
			if status != test.status || !strings.Contains(body, test.want) {
				t.Errorf("%s = %d %.200s, want %d with %s", test.request, status, body, test.status, test.want)
			}
		})
	}
}

// send sends a request, and returns the status and the body of the answer.
func send(t *testing.T, method, url string) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it has been read
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(content)
}

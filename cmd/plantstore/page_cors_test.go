package main

import (
	"net/http"
	"os"
	"testing"

	"plantstore/test/processtest"
)

// The page has a token, so CORS must never let another site read it. Within CORS, each answer has Vary: Origin.
func TestPageIsOutsideCORS(t *testing.T) {
	t.Parallel()
	const site = "https://www.example.com"
	server := processtest.Serve(t, os.Args[0], asCommand, "ALLOW_ORIGIN="+site)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Origin": {site}, "Accept": {"*/*"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // its header is enough
	if response.StatusCode != http.StatusOK || response.Header.Get("Vary") != "" {
		t.Errorf("the page = %d with headers %v, want 200 outside CORS", response.StatusCode, response.Header)
	}
}

package main

import (
	"net/http"
	"os"
	"testing"

	"plantstore/test/processtest"
)

// A page of the second of two allowed origins can read an answer. With a malformed origin, serve does not start.
func TestCORS(t *testing.T) {
	t.Parallel()
	const site = "https://www.example.com"
	server := processtest.Serve(t, os.Args[0], asCommand, "ALLOW_ORIGIN=http://localhost:5173,"+site)
	header, _ := processtest.Post(t, server.URL+"/plants", http.Header{"Origin": {site}})
	if got := header.Get("Access-Control-Allow-Origin"); got != site {
		t.Errorf("answer to %s allows the origin %q, want %q", site, got, site)
	}
	malformed := newTool(t, "ALLOW_ORIGIN="+site+"/")
	malformed.check(t, "serve", result{status: 2, stderr: ".*ALLOW_ORIGIN: want origins.*\n"})
}

package main

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"plantstore/test/processtest"
)

const site = "https://www.example.com" // the origin of a page that calls the API

// A page of an allowed origin can send and read what template.yaml allows it in AWS.
func TestCORSIsThatOfTemplate(t *testing.T) {
	template, err := os.ReadFile("../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	options := corsOptions([]string{site})
	list := func(values []string) string { return "[" + strings.Join(values, ", ") + "]\n" }
	for _, want := range []string{
		"allowMethods: " + list(options.AllowedMethods),
		"allowHeaders: " + list(options.AllowedHeaders),
		"exposeHeaders: " + list(options.ExposedHeaders),
		fmt.Sprintf("maxAge: %d ", options.MaxAge),
	} {
		if !strings.Contains(string(template), want) {
			t.Errorf("template.yaml lacks %q, which corsOptions has", want)
		}
	}
}

func TestAllowedOrigin(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, allow, want string }{
		{name: "a page of an allowed origin can read an answer", allow: "http://localhost:5173," + site, want: site},
		{name: "without ALLOW_ORIGIN, no page can read an answer"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := processtest.Serve(t, os.Args[0], asCommand, "ALLOW_ORIGIN="+test.allow)
			header, _ := processtest.Post(t, server.URL+"/plants", http.Header{"Origin": {site}})
			if got := header.Get("Access-Control-Allow-Origin"); got != test.want {
				t.Errorf("answer to %s allows the origin %q, want %q", site, got, test.want)
			}
		})
	}
}

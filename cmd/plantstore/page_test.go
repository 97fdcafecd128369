package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plantstore/internal/page"
	"plantstore/test/processtest"
)

// TestPage creates a plant by a click on the page, which the greeting names. It also takes the picture in README.md:
//
//	PICTURE=$PWD/docs/page.png go test -count=1 -run TestPage ./cmd/plantstore
func TestPage(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		processtest.SkipWithout(t, "Chromium: apt-get install chromium")
	}
	// Root has no sandbox, and the browser opens nothing but the page.
	options := chromedp.WithAllocatorOptions(chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.WindowSize(1000, 2400))
	server := processtest.Serve(t, os.Args[0], asCommand)
	if !strings.Contains(server.Greeting, page.Greeting) {
		t.Errorf("serve prints %q, want %q in it", server.Greeting, page.Greeting)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	browser, stop := chromedp.NewContext(ctx, options)
	defer stop()
	if _, err := chromedp.Run(browser, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	if _, err := chromedp.Run(browser, chromedp.Click(".execute", chromedp.NodeVisible)); err != nil {
		t.Fatal(err)
	}
	created, err := chromedp.Run(browser, chromedp.Text(".live-responses-table tbody", chromedp.NodeVisible))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(created, `"name": "Monstera"`) {
		t.Errorf("the click shows %q, want a Plant", created)
	}
	if file := os.Getenv("PICTURE"); file != "" {
		picture, err := chromedp.Run(browser, chromedp.CaptureScreenshot())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, picture, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

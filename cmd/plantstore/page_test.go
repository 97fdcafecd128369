package main

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plantstore/test/processtest"
)

// do returns what an action in the browser returns. It must succeed within 20 seconds.
func do[T any](t *testing.T, browser context.Context, action chromedp.Action[T]) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(browser, 20*time.Second)
	defer cancel()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// TestPage creates a plant by a click on the page.
func TestPage(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		processtest.Lacks(t, "Chromium: apt-get install chromium")
	}
	// Root has no sandbox, and the browser opens nothing but the page.
	options := chromedp.WithAllocatorOptions(chromedp.ExecPath(chromium), chromedp.NoSandbox)
	browser, stop := chromedp.NewContext(t.Context(), options)
	defer stop()
	server := processtest.Serve(t, os.Args[0], asCommand)
	// The first action starts the browser, which ends with the context of that action.
	if _, err := chromedp.Run(browser, chromedp.Navigate(server.URL)); err != nil {
		t.Fatal(err)
	}
	do(t, browser, chromedp.Click(".execute", chromedp.NodeVisible))
	created := do(t, browser, chromedp.Text(".live-responses-table tbody", chromedp.NodeVisible))
	if !strings.Contains(created, `"name": "Monstera"`) {
		t.Errorf("the click shows %q, want a Plant", created)
	}
}

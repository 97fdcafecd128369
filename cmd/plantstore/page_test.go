package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plantstore/test/processtest"
)

// TestTokenOnThePage checks that the page has no token if another machine can request it. TestPage needs the token.
func TestTokenOnThePage(t *testing.T) {
	t.Parallel()
	server := processtest.ServeOn(t, processtest.Build(t, "cmd/plantstore"), "0.0.0.0:0", processtest.InMemory()...)
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	html, err := exec.CommandContext(t.Context(), "curl", "-sS", "--noproxy", "*", "http://127.0.0.1"+port).Output()
	if err != nil || !strings.Contains(string(html), `data-token=""`) {
		t.Errorf("serve --addr 0.0.0.0:0: the page is %s, %v, want an empty data-token", html, err)
	}
}

// TestPage creates a plant by a click on the page, and learns by a second click that it exists. The browser must report
// no error; it reports what the page's content security policy forbids, such as a request to another server.
//
// docs/page.png is a picture of the page, with the digest of the page's text at its end. The test fails if the text is
// another one. With SCREENSHOT=1 it makes the picture anew.
func TestPage(t *testing.T) {
	t.Parallel()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		processtest.Lacks(t, "Chromium: apt-get install chromium")
	}
	// Root has no sandbox, and the browser opens nothing but this page.
	options := chromedp.WithAllocatorOptions(chromedp.ExecPath(chromium), chromedp.NoSandbox)
	ctx, stop := chromedp.NewContext(t.Context(), options)
	defer stop()
	server := processtest.Serve(t, processtest.Build(t, "cmd/plantstore"), processtest.InMemory()...)
	messages := chromedp.Console(ctx)
	var text, created, exists string
	var screenshot []byte
	const answer = ".live-responses-table tbody"
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	err = chromedp.Do(limited,
		chromedp.EmulateViewport(1000, 2200),
		chromedp.Navigate(server.URL),
		chromedp.WaitReady(".execute", chromedp.NodeVisible),
		into(&text, chromedp.Evaluate[string]("document.body.innerText")),
		chromedp.Click(".execute", chromedp.NodeVisible),
		into(&created, chromedp.Text(answer, chromedp.NodeVisible)),
		chromedp.Click(".execute", chromedp.NodeVisible),
		into(&exists, chromedp.Poll[string](`(s => s.startsWith('4') && s)(document.querySelector('`+answer+`').innerText)`)),
		into(&screenshot, chromedp.CaptureScreenshot()),
	)
	if err != nil || !strings.HasPrefix(created, "200") || !strings.Contains(created, `"name": "Monstera"`) ||
		!strings.HasPrefix(exists, "400") || !strings.Contains(exists, `"error": 3001`) {
		t.Errorf("the clicks show %q and %q, %v, want 200 and a Plant, then 400 and error 3001", created, exists, err)
	}
	checkPicture(t, screenshot, fmt.Sprintf("%x", sha256.Sum256([]byte(text))))
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any]("console.log('end')")); err != nil {
		t.Fatal(err)
	}
	for message, err := range messages {
		if err != nil || message.Text == "end" {
			break
		}
		if !strings.HasSuffix(message.URL, "/plants") { // the browser also logs a 400 of the API
			t.Errorf("the browser reports %s at %s, want nothing", message, message.URL)
		}
	}
}

// checkPicture checks that docs/page.png has the digest, or replaces it by the screenshot.
func checkPicture(t *testing.T, screenshot []byte, digest string) {
	t.Helper()
	const file = "../../docs/page.png"
	picture, err := os.ReadFile(file)
	if os.Getenv("SCREENSHOT") != "" {
		picture = slices.Concat(screenshot, []byte(digest)) // programs ignore what comes after a picture
		err = os.WriteFile(file, picture, 0o600)
	}
	if err != nil || !bytes.HasSuffix(picture, []byte(digest)) {
		t.Errorf("docs/page.png shows another text (%v): run `SCREENSHOT=1 go test -count=1 -run TestPage ./cmd/...`", err)
	}
}

// into stores what an action returns.
func into[T any](value *T, action chromedp.Action[T]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) (err error) {
		*value, err = action(ctx, target)
		return err
	})
}

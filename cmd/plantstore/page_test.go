package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"plantstore/test/processtest"
)

// TestTokenOnThePage checks that the page has the token only if no other machine can request it.
func TestTokenOnThePage(t *testing.T) {
	t.Parallel()
	binary := processtest.Build(t, "plantstore")
	for address, want := range map[string]bool{"127.0.0.1:0": true, "0.0.0.0:0": false} {
		server := processtest.ServeOn(t, binary, address, processtest.InMemory()...)
		port := server.URL[strings.LastIndex(server.URL, ":"):]
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+port, nil)
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Accept", "text/html")
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		html, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close() // it is read
		got := strings.Contains(string(html), `data-token="pst_`)
		if err != nil || got != want || !strings.Contains(string(html), "data-token") {
			t.Errorf("serve --addr %s: the page has the token = %t, %v, want %t", address, got, err, want)
		}
	}
}

// TestPage creates a plant by a click on the page, and learns by a second click that it exists. With
// SCREENSHOT=FILE.png it stores what the browser shows.
func TestPage(t *testing.T) {
	t.Parallel()
	const status = ".live-responses-table tbody .response-col_status"
	const body = ".live-responses-table .highlight-code code"
	ctx, faults := openBrowser(t)
	server := processtest.Serve(t, processtest.Build(t, "plantstore"), processtest.InMemory()...)
	var (
		first, plant, second, failure string
		violations                    []string
		screenshot                    []byte
	)
	err := chromedp.Do(ctx,
		chromedp.EmulateViewport(1000, 2030),
		chromedp.Navigate(server.URL),
		chromedp.Click(".execute", chromedp.NodeVisible),
		into(&first, chromedp.Text(status, chromedp.NodeVisible)),
		into(&plant, chromedp.Text(body, chromedp.NodeVisible)),
		chromedp.Click(".execute", chromedp.NodeVisible),
		into(&second, chromedp.Poll[string](`(s => s[0] == '4' && s)(document.querySelector('`+status+`').innerText)`)),
		into(&failure, chromedp.Text(body)),
		into(&violations, chromedp.Evaluate[[]string]("violations")),
		into(&screenshot, chromedp.CaptureScreenshot()),
	)
	if file := os.Getenv("SCREENSHOT"); file != "" {
		if err := os.WriteFile(file, screenshot, 0o600); err != nil {
			t.Error(err)
		}
	}
	if err != nil {
		t.Fatalf("page: %v; the browser reports %q", err, faults())
	}
	if !strings.HasPrefix(first, "200") || !strings.Contains(plant, `"name": "Monstera"`) {
		t.Errorf("the first click shows %q, %q, want 200 and a Plant", first, plant)
	}
	if !strings.HasPrefix(second, "400") || !strings.Contains(failure, `"error": 3001`) {
		t.Errorf("the second click shows %q, %q, want 400 and error 3001", second, failure)
	}
	if reported := append(faults(), violations...); len(reported) > 0 {
		t.Errorf("the browser reports %q, want no error, no policy violation and no request to elsewhere", reported)
	}
}

// openBrowser starts Chromium for the time of the test, and returns the faults that it reports. If Chromium is
// missing, the test is skipped, or with CI=true fails.
func openBrowser(t *testing.T) (ctx context.Context, faults func() []string) {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("this test needs Chromium: apt-get install chromium")
	}
	if err != nil {
		t.Skip("skipped: this test needs Chromium: apt-get install chromium")
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	// Root has no sandbox, and the browser opens nothing but this page.
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium), chromedp.NoSandbox)
	ctx, stop = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	script := page.AddScriptToEvaluateOnNewDocumentParams{Source: `var violations = [];
		addEventListener('securitypolicyviolation', e => violations.push(e.violatedDirective + e.blockedURI), true)`}
	err = chromedp.Do(ctx, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, script)
		return err
	}))
	if err != nil {
		t.Fatal(err)
	}
	var (
		mu       sync.Mutex
		reported []string
	)
	err = chromedp.Listen(ctx, func(event any) {
		if fault := faultOf(event); fault != "" {
			mu.Lock()
			defer mu.Unlock()
			reported = append(reported, fault)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx, func() []string { mu.Lock(); defer mu.Unlock(); return reported }
}

// into stores what an action returns.
func into[T any](value *T, action chromedp.Action[T]) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) (err error) {
		*value, err = action(ctx, target)
		return err
	})
}

// faultOf returns the fault that an event reports, or "". The browser also logs a 400 of the API, which is none.
func faultOf(event any) string {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		return e.ExceptionDetails.Text
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			return fmt.Sprintf("console.%s %s", e.Type, e.Args[0].Value)
		}
	case *log.EventEntryAdded:
		if !strings.HasSuffix(e.Entry.URL, "/plants") {
			return e.Entry.Text
		}
	case *network.EventRequestWillBeSent:
		u, err := url.Parse(e.Request.URL)
		if err != nil || u.Scheme != "data" && u.Hostname() != "127.0.0.1" {
			return "request to " + e.Request.URL
		}
	}
	return ""
}

package examples

import (
	"context"
	"encoding/json/v2"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"plantstore/test/processtest"
)

// A page is a page that a browser opens.
type page struct {
	browser context.Context
	url     string
}

// openPage starts a browser for the page at a URL.
func openPage(t *testing.T, url string) *page {
	t.Helper()
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		processtest.Lacks(t, "chromium")
	}
	// Root has no sandbox, and the browser opens nothing but the page.
	options := chromedp.WithAllocatorOptions(chromedp.ExecPath(chromium), chromedp.NoSandbox)
	browser, stop := chromedp.NewContext(t.Context(), options)
	t.Cleanup(stop)
	do(t, browser, chromedp.Navigate(url))
	return &page{browser: browser, url: url}
}

// do returns what an action in a browser returns.
func do[T any](t *testing.T, browser context.Context, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(browser, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// shown is what a page shows.
type shown struct {
	result
	request string // the id of the request
}

// submit opens the page in a new tab, fills in its form, submits it, and returns what it shows in the end.
func (p *page) submit(t *testing.T, address, token, plant string) shown {
	t.Helper()
	limited, cancel := context.WithTimeout(p.browser, time.Minute)
	defer cancel()
	tab, closeTab := chromedp.NewContext(limited)
	defer closeTab()
	do(t, tab, chromedp.Navigate(p.url))
	values, err := json.Marshal([]string{address, token, plant})
	if err != nil {
		t.Fatal(err)
	}
	do(t, tab, chromedp.Evaluate[any](
		`[form.url.value, form.token.value, form.plant.value] = `+string(values)+`; form.requestSubmit()`))
	do(t, tab, chromedp.Poll[bool](`form.dataset.created !== undefined`))
	text := func(expression string) string { return do(t, tab, chromedp.Evaluate[string](expression)) }
	got := shown{request: text(`request.textContent`)}
	got.stdout = text(`answer.textContent`) + "\n"
	got.stderr = text(`message.textContent`)
	if text(`form.dataset.created`) != "true" {
		got.status = 1
	}
	return got
}

// A page of the allowed origin creates a plant and reads an exposed header. A page of another origin creates nothing.
func testOrigins(t *testing.T, allowed *page, service *processtest.Server) {
	other := &page{browser: allowed.browser, url: strings.Replace(allowed.url, "127.0.0.1", "localhost", 1)}
	plant := newPlant()
	refused := other.submit(t, service.URL, service.Token, plant)
	if !strings.HasPrefix(refused.stdout, "no answer") || refused.status != 1 || refused.request != "" {
		t.Errorf("a page of another origin shows %+v, want no answer, status 1 and no id", refused)
	}
	created := allowed.submit(t, service.URL, service.Token, plant)
	if created.stdout != `{"name":"Monstera","tag":"indoor"}`+"\n" || created.status != 0 || created.request == "" {
		t.Errorf("a page of the allowed origin shows %+v, want the Plant, status 0 and an id", created)
	}
}

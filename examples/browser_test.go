package examples

import (
	"context"
	"encoding/json/v2"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// browser stands for the command of a client that is a page.
const browser = "browser"

// browse fills in the form of a page and submits it, with an empty plant unless one is given. It returns what the page
// shows as its answer, its messages, the id of the request, and an exit code as of the other clients.
func (c client) browse(t *testing.T, page, address string, plant ...string) (answer, told, request string, code int) {
	t.Helper()
	// Root has no sandbox, and the browser opens nothing but the page.
	options := chromedp.WithAllocatorOptions(chromedp.ExecPath("chromium"), chromedp.NoSandbox)
	ctx, stop := chromedp.NewContext(t.Context(), options)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	values, _ := json.Marshal([]string{address, c.secret, strings.Join(plant, "")}) // texts have a JSON form
	const shown = `form.dataset.created && [form.dataset.created, answer, request, message].map(e => e.textContent ?? e).join('|')`
	fill := `[form.url.value, form.token.value, form.plant.value] = ` + string(values) + `; form.requestSubmit()`
	_, err1 := chromedp.Run(ctx, chromedp.Navigate(page))
	_, err2 := chromedp.Run(ctx, chromedp.Evaluate[any](fill))
	result, err3 := chromedp.Run(ctx, chromedp.Poll[string](shown))
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	parts := strings.SplitN(result, "|", 4)
	if parts[0] != "true" {
		code = 1
	}
	return parts[1] + "\n", parts[3], parts[2], code
}

// testOrigins checks that a page of the allowed origin creates a plant and reads an exposed header, and that a page of
// another origin creates nothing.
func testOrigins(t *testing.T, c client, address string) {
	c.plant = `{"id":100,"name":"Monstera","tag":"indoor"}`
	allowed := c.command[1]
	other := strings.Replace(allowed, "127.0.0.1", "localhost", 1)
	if answer, _, request, code := c.browse(t, other, address, c.plant); !strings.HasPrefix(answer, "no answer") || code != 1 || request != "" {
		t.Errorf("a page of another origin shows %q, %d, request %q, want no answer and 1", answer, code, request)
	}
	answer, _, request, code := c.browse(t, allowed, address, c.plant)
	if answer != `{"name":"Monstera","tag":"indoor"}`+"\n" || code != 0 || request == "" {
		t.Errorf("a page of the allowed origin shows %q, %d, request %q, want the Plant, 0 and an id", answer, code, request)
	}
}

// allowOrigins is what API Gateway with CORS does around a fault.
func allowOrigins(next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Access-Control-Allow-Headers", "authorization,content-type,idempotency-key")
		w.Header().Set("Access-Control-Expose-Headers", "retry-after")
		if r.Method != http.MethodOptions {
			next(w, r)
		}
	})
}

// Command go creates a plant, and repeats the request until it is certain what
// became of it, four times at most. It prints the Plant, or the Error and ends
// with 1.
//
//	URL=http://127.0.0.1:8080 TOKEN=... GOTOOLCHAIN=auto \
//		go run ./examples/go '{"id":5,"name":"Monstera","tag":"indoor"}'
//
// GOTOOLCHAIN=auto lets an older Go download the version that go.mod names.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func main() {
	if len(os.Args) != 2 || os.Getenv("URL") == "" || os.Getenv("TOKEN") == "" {
		fmt.Fprintln(os.Stderr, "usage: URL=... TOKEN=... go run ./examples/go PLANT")
		os.Exit(2)
	}
	created, body := create(context.Background(), os.Args[1])
	fmt.Println(body)
	if !created {
		os.Exit(1)
	}
}

// create reports whether the plant is created, and returns the last answer, or
// what failed.
func create(ctx context.Context, plant string) (created bool, body string) {
	key := rand.Text() // of this plant: each attempt sends the same
	const attempts = 4
	for attempt := range attempts {
		answer, err := post(ctx, plant, key)
		body = answer.body
		switch {
		case err != nil:
			body = "no answer: " + err.Error()
		case answer.status == http.StatusOK && answer.contentType == "application/json":
			return true, body
		case answer.status/100 == 4 && answer.status != http.StatusTooManyRequests && answer.retryAfter == "":
			return false, body
		}
		wait := time.Second << attempt
		if seconds, err := strconv.ParseUint(answer.retryAfter, 10, 16); err == nil && seconds < 60 {
			wait = time.Duration(seconds) * time.Second
		}
		if attempt < attempts-1 {
			fmt.Fprintf(os.Stderr, "not certain yet (status %d): trying again in %v\n", answer.status, wait)
			time.Sleep(wait)
		}
	}
	return false, body
}

type answer struct {
	status                        int
	contentType, retryAfter, body string
}

// client follows no redirect: the token is for the service alone.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}

// post makes one attempt.
func post(ctx context.Context, plant, key string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(os.Getenv("URL"), "/")+"/plants", strings.NewReader(plant))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimSpace(os.Getenv("TOKEN")))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	return answer{response.StatusCode, response.Header.Get("Content-Type"), response.Header.Get("Retry-After"), string(body)}, nil
}

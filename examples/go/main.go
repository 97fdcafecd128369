// Command go creates a plant, and repeats the request until it is certain what
// became of it, four times at most. It prints the Plant, or the Error and ends
// with 1.
//
//	PLANTSTORE_URL=http://127.0.0.1:8080 PLANTSTORE_TOKEN=pst_... \
//		go run ./examples/go '{"id":1,"name":"Monstera","tag":"indoor"}'
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
	if len(os.Args) != 2 || os.Getenv("PLANTSTORE_URL") == "" || os.Getenv("PLANTSTORE_TOKEN") == "" {
		fmt.Fprintln(os.Stderr, "usage: PLANTSTORE_URL=... PLANTSTORE_TOKEN=... go run ./examples/go PLANT")
		os.Exit(2)
	}
	status, body := create(context.Background(), os.Args[1])
	fmt.Println(body)
	if status != http.StatusOK {
		os.Exit(1)
	}
}

// create returns the status and the body of the answer, or 0 and what failed.
func create(ctx context.Context, plant string) (status int, body string) {
	key := rand.Text() // of this plant: each attempt sends the same
	const attempts = 4
	for attempt := range attempts {
		wait := time.Second << attempt
		answer, err := post(ctx, plant, key)
		status, body = answer.status, answer.body
		switch {
		case err != nil:
			body = "no answer: " + err.Error()
		case answer.retryAfter != "":
			if seconds, err := strconv.Atoi(answer.retryAfter); err == nil {
				wait = time.Duration(seconds) * time.Second
			}
		case status != http.StatusTooManyRequests && status < 500:
			return status, body
		}
		if attempt < attempts-1 {
			time.Sleep(wait)
		}
	}
	return status, body
}

type answer struct {
	status           int
	body, retryAfter string
}

// post makes one attempt.
func post(ctx context.Context, plant, key string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, os.Getenv("PLANTSTORE_URL")+"/plants", strings.NewReader(plant))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("PLANTSTORE_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return answer{}, err
	}
	return answer{response.StatusCode, string(body), response.Header.Get("Retry-After")}, nil
}

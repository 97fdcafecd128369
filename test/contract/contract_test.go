// Package contract holds a plant store to conversations.txt, over HTTP: this code with each store, or a deployment with
//
//	make contract URL=... TOKEN=...
package contract

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/api"
	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/plants"
	"plantstore/internal/tokens"
)

//go:embed conversations.txt
var file string

func TestContract(t *testing.T) {
	if url, given := os.LookupEnv("CONTRACT_URL"); given {
		bearer := os.Getenv("CONTRACT_TOKEN")
		if url == "" || bearer == "" {
			t.Fatal("usage: make contract URL=... TOKEN=...")
		}
		runAll(t, strings.TrimSuffix(url, "/"), bearer)
		return
	}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	bearer, token, err := tokens.Issue("alice", 1)
	if err != nil {
		t.Fatal(err)
	}
	serve := func(t *testing.T, authorizer api.Authorizer, create api.Operation) {
		server := httptest.NewServer(api.Gateway{
			Authorizer: authorizer,
			Routes:     map[string]lambda.Handler{"POST /plants": create},
		})
		defer server.Close()
		runAll(t, server.URL, bearer)
	}
	t.Run("memory", func(t *testing.T) {
		serve(t, api.Authorizer{Tokens: tokens.Memory{token.Digest: token}}, plants.Create(&plants.Memory{}))
	})
	t.Run("DynamoDB Local", func(t *testing.T) {
		client, name := dynamotest.NewTable(t, "digest", types.ScalarAttributeTypeS)
		issued := tokens.Table{Client: client, Name: name}
		if err := issued.Add(t.Context(), token); err != nil {
			t.Fatal(err)
		}
		client, name = dynamotest.NewTable(t, "id", types.ScalarAttributeTypeN)
		serve(t, api.Authorizer{Tokens: issued}, plants.Create(plants.Table{Client: client, Name: name}))
	})
}

func runAll(t *testing.T, url, bearer string) {
	conversations := regexp.MustCompile(`(?m)^(\S.*)\n((?:  .*\n)+)`).FindAllStringSubmatch(file, -1)
	for i, c := range conversations {
		if passed := t.Run(c[1], func(t *testing.T) { run(t, url, bearer, c[2]) }); i == 0 && !passed {
			t.Fatal("the others are not run: is this a plant store, and is the token valid there?")
		}
	}
}

func run(t *testing.T, url, bearer, lines string) {
	for _, short := range regexp.MustCompile(`(.)\{(\d+)\}`).FindAllStringSubmatch(lines, -1) {
		n, _ := strconv.Atoi(short[2]) // it has only digits
		lines = strings.ReplaceAll(lines, short[0], strings.Repeat(short[1], n))
	}
	id := fmt.Sprint(1e17 + rand.Int64N(8e17))
	lines = strings.NewReplacer("$TOKEN", bearer, "$ID", id, "${ID}", id).Replace(lines)
	headers := map[string]string{"Authorization": "Bearer " + bearer, "Content-Type": "application/json"}
	for line := range strings.Lines(lines) {
		request, want, isRequest := strings.Cut(strings.TrimSpace(line), "->")
		if !isRequest {
			name, value, _ := strings.Cut(request, ":")
			headers[name] = strings.TrimSpace(value)
			continue
		}
		want = strings.TrimSpace(want)
		if got := send(t, url, headers, strings.TrimSpace(request)); !matches(got, want) {
			got = strings.ReplaceAll(got, bearer, "$TOKEN")
			t.Errorf("%.200s gets %.300s, want %.300s", strings.ReplaceAll(line, bearer, "$TOKEN"), got, want)
		}
	}
}

// matches reports whether an answer is the wanted one. Of an Error's message, want has only a part.
func matches(got, want string) bool {
	code, words, _ := strings.Cut(want, " ")
	return got == want || strings.HasPrefix(got, code+" ") && strings.Contains(got, words)
}

// send returns an answer as conversations.txt has it, or what is wrong with it.
func send(t *testing.T, url string, headers map[string]string, line string) string {
	part := regexp.MustCompile(`^(?:([A-Z]+) (/\S+) ?)?(.*)$`).FindStringSubmatch(line)
	method, path := cmp.Or(part[1], http.MethodPost), cmp.Or(part[2], "/plants")
	request, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(part[3]))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range headers {
		if value != "" {
			request.Header.Set(name, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it was read
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	var refusal struct {
		Error   *int32  `json:"error"`
		Message *string `json:"message"`
	}
	isError := json.Unmarshal(body, &refusal) == nil && refusal.Error != nil && refusal.Message != nil
	switch {
	case response.StatusCode != 200 && response.StatusCode != 400:
		return "the status " + response.Status
	case response.Header.Get("Content-Type") != "application/json":
		return fmt.Sprintf("the content type %q", response.Header["Content-Type"])
	case response.StatusCode == 400 && isError:
		return fmt.Sprintf("%d %s", *refusal.Error, *refusal.Message)
	}
	return string(body)
}

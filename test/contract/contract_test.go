// Package contract sends the requests in conversations.txt to a Plant Store over HTTP, and checks the answers.
//
//	go test ./test/contract            this code in process, with each store
//	make contract URL=... TOKEN=...    a deployment
package contract

import (
	"cmp"
	"context"
	_ "embed" // for conversations.txt
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/dynamo/dynamotest"
	"plantstore/internal/gateway"
	"plantstore/internal/memory"
	"plantstore/internal/plant"
	"plantstore/internal/token"
)

//go:embed conversations.txt
var file string

func TestContract(t *testing.T) {
	if address, given := os.LookupEnv("CONTRACT_URL"); given {
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			t.Fatal("URL must be the address of a service: make contract URL=https://... TOKEN=...")
		}
		bearer := os.Getenv("TOKEN")
		if !regexp.MustCompile(`^[!-~]+$`).MatchString(bearer) {
			t.Fatal("TOKEN must be a valid token, without the word Bearer: make contract URL=https://... TOKEN=...")
		}
		runAll(t, strings.TrimSuffix(address, "/"), bearer)
		return
	}
	bearer, issued, _ := token.Issue("alice", time.Now(), time.Hour) // the subject is valid
	t.Run("memory", func(t *testing.T) {
		plants := new(memory.Plants)
		runInProcess(t, plants, memory.Tokens{issued.ID: issued}, bearer)
		race(t, plants, 20_000) // most rounds do not show a race
	})
	t.Run("DynamoDB Local", func(t *testing.T) {
		client, plantsTable, tokensTable := dynamotest.NewTables(t)
		plants := &dynamo.Plants{Client: client, Table: plantsTable}
		tokens := &dynamo.Tokens{Client: client, Table: tokensTable}
		if err := tokens.Add(t.Context(), issued); err != nil {
			t.Fatal(err)
		}
		runInProcess(t, plants, tokens, bearer)
		race(t, plants, 20)
	})
}

func runInProcess(t *testing.T, plants plant.Store, tokens token.Store, bearer string) {
	log := slog.New(slog.DiscardHandler)
	g := gateway.New(&api.Authorizer{Tokens: tokens, Log: log}, log)
	for key, function := range api.Routes(plants, log) {
		g.Handle(key, function)
	}
	server := httptest.NewServer(g)
	defer server.Close()
	runAll(t, server.URL, bearer)
}

// race sends four requests for one id at once, each of them twice, with a new id in each round. One of the four succeeds,
// both times.
func race(t *testing.T, store plant.Store, rounds int64) {
	for id := range rounds {
		var successes atomic.Int64
		var group sync.WaitGroup
		begin := make(chan struct{})
		for i := range 8 {
			group.Go(func() {
				<-begin
				write := plant.Write{NewPlant: plant.NewPlant{ID: math.MinInt64 + id}, WriteKey: fmt.Sprint(i % 4)}
				err := store.Create(t.Context(), write)
				if err == nil {
					successes.Add(1)
				} else if !errors.Is(err, plant.ErrExists) {
					t.Errorf("Create = %v, want %v", err, plant.ErrExists)
				}
			})
		}
		close(begin)
		group.Wait()
		if got := successes.Load(); got != 2 {
			t.Fatalf("%d of 8 racing writes of one id succeeded, want the two of one request", got)
		}
	}
}

func runAll(t *testing.T, address, bearer string) {
	for i, c := range parse(t) {
		passed := t.Run(c.sentence, func(t *testing.T) { run(t, address, bearer, c.lines) })
		if i == 0 && !passed {
			t.Fatal("the other conversations do not run: is this a Plant Store, and is the token valid there?")
		}
	}
}

type conversation struct {
	sentence string
	lines    string
}

// parse returns the conversations in file. It checks that every arrow is in one.
func parse(t *testing.T) []conversation {
	t.Helper()
	var all []conversation
	arrows := 0
	for _, found := range regexp.MustCompile(`(?m)^(\S.*)\n((?: .*\n)+)`).FindAllStringSubmatch(file, -1) {
		all = append(all, conversation{sentence: found[1], lines: found[2]})
		arrows += strings.Count(found[2], "->")
	}
	if want := strings.Count(file, "->"); arrows != want || want == 0 {
		t.Fatalf("conversations.txt has %d arrows, but only %d are in a conversation", want, arrows)
	}
	return all
}

func run(t *testing.T, address, bearer, lines string) {
	for _, short := range regexp.MustCompile(`(.)\{(\d+)\}`).FindAllStringSubmatch(lines, -1) {
		n, _ := strconv.Atoi(short[2]) // only digits match
		lines = strings.ReplaceAll(lines, short[0], strings.Repeat(short[1], n))
	}
	id := fmt.Sprint(1e17 + rand.Int64N(8e17))
	texts := strings.NewReplacer("$TOKEN", bearer, "$ID", id, "${ID}", id, "$BOM", "\uFEFF")
	header := http.Header{"Authorization": {"Bearer " + bearer}, "Content-Type": {"application/json"}}
	changes := http.Header{}
	for line := range strings.Lines(texts.Replace(lines)) {
		body, want, isRequest := strings.Cut(line, "->")
		body, want = strings.TrimSpace(body), strings.TrimSpace(want)
		if !isRequest {
			name, value, _ := strings.Cut(body, ":")
			if !regexp.MustCompile(`^[A-Za-z-]+$`).MatchString(name) {
				t.Fatalf("%q is neither a request nor a header", line)
			}
			changes.Add(name, strings.TrimSpace(value))
			continue
		}
		maps.Copy(header, changes)
		maps.DeleteFunc(header, func(_ string, values []string) bool { return values[0] == "" })
		clear(changes)
		if got := send(t, address, header, body); !answers(got, want) {
			shown := strings.ReplaceAll(fmt.Sprint(header), bearer, "$TOKEN") // the token must not be logged
			t.Errorf("%.200s with %.300s gets %.300s, want %.300s", body, shown, got, want)
		}
	}
}

// answers reports whether got is the wanted answer. For an Error, want has only part of the message.
func answers(got, want string) bool {
	const end = len("400 1004")
	isError := strings.HasPrefix(want, "400") && strings.HasPrefix(got, want[:end])
	return got == want || isError && strings.Contains(got, want[end:])
}

// send returns the answer to a request as conversations.txt has it, with an Error's whole message. It does not follow
// redirects.
func send(t *testing.T, address string, header http.Header, line string) string {
	part := regexp.MustCompile(`^(?:([A-Z]+) (/\S+) ?)?(.*)$`).FindStringSubmatch(line)
	method, path, body := cmp.Or(part[1], http.MethodPost), cmp.Or(part[2], "/plants"), part[3]
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second) // API Gateway's limit
	defer cancel()
	request, _ := http.NewRequestWithContext(ctx, method, address+path, strings.NewReader(body)) // address is a URL
	request.Header = header
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()             //nolint:errcheck // it has been read
	content, _ := io.ReadAll(response.Body) // half a body is a wrong answer
	_, sent, _ := strings.Cut(header.Get("Authorization"), " ")
	isLong := len(sent) >= 20                                                  // a short token may occur by chance
	isSAMLocal := strings.HasPrefix(response.Header.Get("Server"), "Werkzeug") // it does not send Apigw-Requestid
	switch {
	case isLong && strings.Contains(fmt.Sprintf("%s %v", content, response.Header), sent):
		return "an answer that shows the token"
	case response.Header.Get("Content-Type") != "application/json":
		return fmt.Sprintf("%s with the content type %q", response.Status, response.Header["Content-Type"])
	case response.Header.Get("Apigw-Requestid") == "" && !isSAMLocal:
		return "an answer without Apigw-Requestid"
	}
	errorBody := regexp.MustCompile(`^\{"error":(\d{4}),"message":"([^"]+)"\}$`)
	return fmt.Sprintf("%d %s", response.StatusCode, errorBody.ReplaceAll(content, []byte("$1 $2")))
}

package dynamo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

var oak = plant.Write{
	Plant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "oak"}},
	Key:   plant.NewWriteKey("gardener", "k"),
}

// create creates the oak in a DynamoDB that does what attempts say. It returns the
// number of attempts, each of which must be the same conditional put.
func create(t *testing.T, timeout time.Duration, attempts ...attempt) (n int, err error) {
	t.Helper()
	client, sent := standIn(t, attempts...)
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	err = (&PlantStore{Client: client, Table: "plants"}).Create(ctx, oak)
	requests := sent()
	for _, r := range requests {
		if r.body != requests[0].body || !strings.Contains(r.body, `"attribute_not_exists(id)"`) {
			t.Errorf("attempt = %s, want the first, a conditional put: %s", r.body, requests[0].body)
		}
	}
	return len(requests), err
}

// The put is repeated until its outcome is known.
func TestCreateByAttempts(t *testing.T) {
	t.Parallel()
	body, other := taken(oak.Key, "oak"), taken(oak.Key, "elm")
	ours, changed := answer(400, body), answer(400, other)
	others := answer(400, taken(plant.NewWriteKey("florist", "k"), "oak"))
	for want, rows := range map[error][][]attempt{
		nil: {
			{created},
			{ours}, // the client repeats the request
			{answer(400, strings.Replace(body, "2026-03-01", "March", 1))}, // the same plant, written at no time

			// No attempt before the last applied the write.
			{failed, created},
			{failed, failed, failed, failed, created},
			{throttled, created},
			{refusal(400, "TransactionConflictException"), created},
			{refusal(400, "ReplicatedWriteConflictException"), created}, // another region writes
			{refusal(501, "Unknown"), created},                          // to the SDK
			{foreign(500, ""), created},
			{foreign(400, "<html>"), created},
			{begins(400, hangsUp), created},

			// The first attempt applied the write, but the answer was lost, damaged or a proxy's.
			{emptied, ours},
			{answer(401, other), ours},
			{hangsUp, ours},
			{stalls, ours},
			{switches, ours},
			{begins(200, hangsUp), ours},
			{reply(200, "{}", "x"), ours},
			{reply(200, "{}", "{ "), ours},
			{reply(400, body, other), ours},
			{answer(202, "{}"), ours},
			{foreign(200, ""), ours},
			{foreign(200, `{"login":"http://portal"}`), ours},
			{foreign(400, `{"__type":"Refused"}`), ours},
			{foreign(429, `{"message":"slow down"}`), ours},
		},
		plant.ErrExists:    {{others}, {hangsUp, others}},
		plant.ErrKeyReused: {{changed}, {hangsUp, changed}},
		plant.ErrOutcomeUnknown: {
			{refusal(400, "ConditionalCheckFailedException")}, // without the item
			{failed, denied}, {failed, throttled, denied}, {hangsUp, noTable}, {begins(200, hangsUp), denied},
		},
		errOther: {
			{denied}, {noTable}, {refusal(400, "ValidationException")}, {throttled, denied}, {throttled, noTable},
		},
	} {
		each(t, rows, func(t *testing.T, attempts []attempt) {
			// The deadline is for a Create that does not end by itself.
			if n, got := create(t, 5*time.Second, attempts...); !is(got, want) || n != len(attempts) {
				t.Errorf("Create = %v after %d attempts, want %v after %d", got, n, want, len(attempts))
			}
		})
	}
}

// taken is the body of the answer to a put whose id exists.
func taken(key, name string) string {
	return fmt.Sprintf(`{"__type": "com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException", "Item": {
		"id": {"N": "1"}, "name": {"S": %q}, "write_key": {"S": %q},
		"created_at": {"S": "2026-03-01T11:00:00Z"}, "created_by": {"S": "gardener"}
	}}`, name, key)
}

// A put whose outcome does not become known ends with the deadline. The error
// contains the cause, for the log.
func TestCreateByDeadline(t *testing.T) {
	t.Parallel()
	ends := func(want error, cause string, attempts ...attempt) {
		each(t, [][]attempt{attempts}, func(t *testing.T, attempts []attempt) {
			n, got := create(t, 300*time.Millisecond, attempts...)
			if !is(got, want) || !strings.Contains(fmt.Sprint(got), cause) {
				t.Errorf("Create = %v after %d attempts, want %v with the cause %q", got, n, want, cause)
			}
		})
	}
	ends(plant.ErrOutcomeUnknown, "InternalServerError", failed)
	ends(plant.ErrOutcomeUnknown, "EOF", hangsUp)
	ends(plant.ErrOutcomeUnknown, "unexpected EOF", begins(200, hangsUp))
	ends(plant.ErrOutcomeUnknown, "not DynamoDB's", foreign(429, "<html>"))
	ends(plant.ErrOutcomeUnknown, "deadline", stalls)
	ends(plant.ErrOutcomeUnknown, "Throttling", throttled, stalls)
	ends(plant.ErrOutcomeUnknown, "Throttling", failed, throttled)
	ends(plant.ErrOutcomeUnknown, "refused", last(hangsUp))
	ends(plant.ErrUnavailable, "refused", last(throttled))
	ends(plant.ErrUnavailable, "refused") // no connection can be made
}

// The SDK alone gives up if the host's name is not found, which is what an outage
// of DNS looks like.
func TestHostNotFound(t *testing.T) {
	notFound := &smithyhttp.RequestSendError{Err: &net.DNSError{IsNotFound: true}}
	if !newRetryer().IsErrorRetryable(notFound) {
		t.Errorf("IsErrorRetryable(%v) = false, want true", notFound)
	}
}

func TestDelay(t *testing.T) {
	for attempt, bound := range map[int]time.Duration{1: firstDelay, 2: 2 * firstDelay, 3: 4 * firstDelay, 99: maxDelay} {
		longest := time.Duration(0)
		for range 1000 {
			got, err := delay(attempt, nil)
			if err != nil || got < 0 || got > bound {
				t.Fatalf("delay(%d) = %v, %v, want at most %v", attempt, got, err, bound)
			}
			longest = max(longest, got)
		}
		if longest < bound*3/4 {
			t.Errorf("delay(%d) = %v at most in 1000 calls, want up to %v", attempt, longest, bound)
		}
	}
}

// In a long outage a client uses up its retry quota. From then on each operation
// makes one attempt and ends before its deadline.
func TestQuota(t *testing.T) {
	t.Parallel()
	for want, always := range map[error][][]attempt{
		plant.ErrOutcomeUnknown: {{failed}}, plant.ErrUnavailable: {{throttled}},
	} {
		each(t, always, func(t *testing.T, attempts []attempt) {
			client, sent := standIn(t, attempts...)
			store := &PlantStore{Client: client, Table: "plants"}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			var outage sync.WaitGroup
			for range 60 {
				outage.Go(func() { _ = store.Create(ctx, oak) })
			}
			outage.Wait()
			before := len(sent())
			err := store.Create(ctx, oak)
			if n := len(sent()) - before; !is(err, want) || n != 1 || ctx.Err() != nil {
				t.Errorf("Create after an outage = %v after %d attempts, want %v after 1", err, n, want)
			}
		})
	}
}

// A token is found by its own item alone, read consistently, which DynamoDB Local
// does in any case.
func TestFindByAttempts(t *testing.T) {
	t.Parallel()
	const item = `{"Item":{"id":{"S":"i"},"digest":{"S":"d"},"subject":{"S":"s"},` +
		`"created_at":{"S":"2026-03-01T12:00:00Z"},"expires_at":{"N":"1800000000"}}}`
	for want, rows := range map[error][][]attempt{
		nil:                  {{answer(200, item)}, {failed, answer(200, item)}},
		token.ErrNotFound:    {{created}, {reply(200, item, strings.Replace(item, "180", "980", 1)), created}},
		token.ErrUnavailable: {{foreign(200, `{"login":""}`)}, nil},
		errOther:             {{answer(200, `{"Item":{"id":{"S":"i"}}}`)}, {denied}},
	} {
		each(t, rows, func(t *testing.T, attempts []attempt) {
			client, sent := standIn(t, attempts...)
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			got, err := (&TokenStore{Client: client, Table: "tokens"}).Find(ctx, "i")
			inconsistent := func(r received) bool { return !strings.Contains(r.body, `"ConsistentRead":true`) }
			if !is(err, want) || (err == nil) != (got.Subject == "s") || slices.ContainsFunc(sent(), inconsistent) {
				t.Errorf("Find = %+v, %v, want %v after consistent reads", got, err, want)
			}
		})
	}
}

// functionClient returns a function's client of the DynamoDB at endpoint, or of
// AWS's if endpoint is empty.
func functionClient(region, endpoint string) *dynamodb.Client {
	return NewFunctionClient(configuration(region, endpoint), slog.New(slog.DiscardHandler))
}

func configuration(region, endpoint string) aws.Config {
	cfg := aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider("id", "secret", "")}
	if endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg
}

// received is a request that DynamoDB received.
type received struct {
	*http.Request
	body string
}

// standIn returns a client of a DynamoDB that handles each request as the next of
// the attempts says; the last one repeats. Without attempts, nothing listens. The
// function sent returns the requests so far.
func standIn(t *testing.T, attempts ...attempt) (client *dynamodb.Client, sent func() []received) {
	t.Helper()
	var mu sync.Mutex
	var requests []received
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client gave up
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		mu.Lock()
		next := attempts[min(len(requests), len(attempts)-1)]
		requests = append(requests, received{r, string(body)})
		mu.Unlock()
		next.handle(w, r)
	}))
	t.Cleanup(server.Close)
	if len(attempts) == 0 {
		server.Close()
	}
	return functionClient("us-east-1", server.URL), func() []received {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(requests)
	}
}

// each tests the rows, all at once, in subtests that are named for the attempts.
func each(t *testing.T, rows [][]attempt, test func(*testing.T, []attempt)) {
	t.Helper()
	for _, attempts := range rows {
		t.Run(fmt.Sprint(attempts), func(t *testing.T) {
			t.Parallel()
			test(t, attempts)
		})
	}
}

// attempt is what DynamoDB, or something in its place, does with one request.
type attempt struct {
	name   string
	handle http.HandlerFunc
}

func (a attempt) String() string { return a.name }

var (
	created   = answer(200, "{}")
	failed    = refusal(500, "InternalServerError")
	throttled = refusal(400, "ThrottlingException")
	denied    = refusal(400, "AccessDeniedException")
	noTable   = refusal(400, "ResourceNotFoundException")
	hangsUp   = attempt{"hangs up", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }}
	emptied   = attempt{"an empty 200 with its checksum", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amz-Crc32", "0")
	}}
	stalls   = attempt{"stalls", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
	switches = attempt{"speaks another protocol from now on", func(w http.ResponseWriter, _ *http.Request) {
		if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_, _ = io.WriteString(connection, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		}
	}}
)

// reply is an answer with the checksum of sent, or without one if sent is empty.
func reply(status int, sent, body string) attempt {
	return attempt{fmt.Sprintf("%d %.80s", status, body), func(w http.ResponseWriter, _ *http.Request) {
		if sent != "" {
			w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(sent))))
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}}
}

// answer is DynamoDB's answer. That of a proxy or a captive portal is foreign.
func answer(status int, body string) attempt  { return reply(status, body, body) }
func foreign(status int, body string) attempt { return reply(status, "", body) }

// refusal is DynamoDB's answer to a request that it does not carry out.
func refusal(status int, errorType string) attempt {
	return attempt{errorType, answer(status, `{"__type":"com.amazonaws.dynamodb.v20120810#`+errorType+`"}`).handle}
}

// begins is the start of an answer, after which DynamoDB does what next says.
func begins(status int, next attempt) attempt {
	return attempt{fmt.Sprint("begins a ", status, " and ", next), func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		answer(status, "{").handle(w, r)
		_ = http.NewResponseController(w).Flush()
		next.handle(w, r)
	}}
}

// last does what a says, after which nothing listens.
func last(a attempt) attempt {
	return attempt{a.name + " and is gone", func(w http.ResponseWriter, r *http.Request) {
		server, _ := r.Context().Value(http.ServerContextKey).(*http.Server)
		noWait, cancel := context.WithCancel(r.Context())
		cancel()
		_ = server.Shutdown(noWait)
		a.handle(w, r)
	}}
}

// errOther stands for every error that is not the domain's.
var errOther = errors.New("another error")

// is reports whether got and want are the same errors of the domain.
func is(got, want error) bool {
	for _, known := range []error{
		plant.ErrExists, plant.ErrKeyReused, plant.ErrUnavailable, plant.ErrOutcomeUnknown,
		token.ErrNotFound, token.ErrUnavailable,
	} {
		if errors.Is(got, known) != errors.Is(want, known) {
			return false
		}
	}
	return (got == nil) == (want == nil)
}

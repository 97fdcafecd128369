package reliability

import (
	"context"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
	"plantstore/internal/token"
	"plantstore/test/dynamotest"
	"plantstore/test/processtest"
)

// parallel is how many requests are made at once: so many that the proof is soon
// done, and so few that two processors answer each in time.
const parallel = 24

// always is a number of faults that outlasts every deadline.
const always = 1 << 20

// trial is one request that meets a fault.
type trial struct {
	id    int64
	hits  int    // how many attempts meet the fault
	key   string // the client's idempotency key, empty for none
	fresh string // the key that the service takes where the client has none
}

// plan tells the proxy which requests are to meet a fault: by the plant's id, or
// by the token's digest.
type plan struct {
	mu    sync.Mutex
	fault fault
	left  map[string]int
}

func (p *plan) next(body []byte) fault {
	var request struct {
		Item struct{ ID struct{ N string } }
		Key  struct{ Digest struct{ S string } }
	}
	_ = json.Unmarshal(body, &request)
	key := request.Item.ID.N + request.Key.Digest.S
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.left[key] == 0 {
		return fault{}
	}
	p.left[key]--
	return p.fault
}

func (p *plan) set(key string, hits int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left[key] = hits
}

// Every fault, once, several times or for as long as the request lasts: the
// answer is true, and comes before the deadline.
func TestNoFaultMakesAFalseAnswer(t *testing.T) {
	direct, table, _ := dynamotest.Tables(t)
	random := rand.New(rand.NewPCG(processtest.Seed(t), 0))
	requests, beat := newCrowd(parallel), newPulse(t)
	for number, fault := range faults() {
		p := &plan{fault: fault, left: map[string]int{}}
		faulty := dynamotest.FunctionClient(newProxy(t, p.next))
		for i := range processtest.Scale(8, 300) {
			try := newTrial(random, fault, int64(number*1000+i+1))
			p.set(fmt.Sprint(try.id), try.hits)
			requests.add(func() {
				if err := try.run(t.Context(), beat, p, direct, faulty, table); err != nil {
					t.Errorf("%s, in %d attempts of request %d: %v", fault.name, try.hits, try.id, err)
				}
			})
		}
	}
	requests.wait()
}

// A token that opens the service is never denied, and one that does not is never
// allowed; and what a fault hides is told once the fault has passed.
func TestNoFaultMakesAFalseVerdict(t *testing.T) {
	direct, _, table := dynamotest.Tables(t)
	random := rand.New(rand.NewPCG(processtest.Seed(t), 1))
	requests, beat := newCrowd(parallel), newPulse(t)
	for _, fault := range faults() {
		p := &plan{fault: fault, left: map[string]int{}}
		authorizer := &api.Authorizer{
			Tokens: token.Verifier{
				Store: &dynamo.TokenStore{Client: dynamotest.FunctionClient(newProxy(t, p.next)), Table: table},
				Now:   time.Now,
			},
			Log:    slog.New(slog.DiscardHandler),
			Now:    time.Now,
		}
		for i := range processtest.Scale(4, 100) {
			secret, issued, err := token.Issue(crand.Reader, "gardener", time.Now(), time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			want := "deny invalid"
			if i%2 == 0 {
				want = "allow"
				if err := (&dynamo.TokenStore{Client: direct, Table: table}).Add(t.Context(), issued); err != nil {
					t.Fatal(err)
				}
			}
			hits := 1
			if random.IntN(4) == 0 {
				hits, want = always, "unavailable"
			}
			p.set(issued.Digest, hits)
			requests.add(func() {
				start := time.Now()
				got := verdict(t, authorizer, secret, 5*time.Second)
				isFalse := got != want && got != "unavailable"
				late := got != want || time.Since(start) > 5*time.Second
				if isFalse || late && beat.steady(start) {
					t.Errorf("%s, in %d attempts: verdict = %s, want %s", fault.name, hits, got, want)
				}
			})
		}
	}
	requests.wait()
}

// verdict returns what the authorizer says of secret.
func verdict(t *testing.T, authorizer *api.Authorizer, secret string, timeout time.Duration) string {
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	response, err := authorizer.Invoke(ctx, []byte(`{"headers":{"authorization":"Bearer `+secret+`"}}`))
	if err != nil {
		t.Errorf("Invoke = %v, want nil", err)
	}
	var answer struct {
		Context struct{ Verdict, Reason string }
	}
	if err := json.Unmarshal(response, &answer); err != nil {
		t.Errorf("Invoke = %s: %v", response, err)
	}
	return strings.TrimSpace(answer.Context.Verdict + " " + answer.Context.Reason)
}

func newTrial(random *rand.Rand, fault fault, id int64) trial {
	try := trial{id: id, hits: 1 + random.IntN(3), fresh: fmt.Sprintf("fresh-%d", id)}
	if random.IntN(2) == 0 {
		try.key = fmt.Sprintf("key-%d", id)
	}
	if !fault.lie && random.IntN(4) == 0 {
		try.hits = always
	}
	return try
}

// run makes the request, and then what an honest client does with its answer.
func (try trial) run(ctx context.Context, beat *pulse, p *plan, direct, faulty *dynamodb.Client, table string) error {
	timeout := 10 * time.Second
	if try.hits == always {
		timeout = 3 * time.Second
	}
	start := time.Now()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	wanted := newPlant(try.id, fmt.Sprintf("plant %d", try.id))
	handler := createPlant(faulty, table, func() string { return try.fresh })
	response, err := handler.Invoke(ctx, event(wanted, try.key))
	took := time.Since(start)
	if err != nil {
		return err
	}
	got, err := decode(response)
	if err != nil {
		return err
	}
	late, tooSoon := took > timeout, try.hits != always && got.code != 0
	if (late || tooSoon) && beat.steady(start) {
		return fmt.Errorf("answer = %v after %v, want one within %v, and the plant where the fault passes", got, took, timeout)
	}
	return try.judge(context.WithoutCancel(ctx), got, p, direct, faulty, table, wanted)
}

// judge compares the answer with the table, and repeats an unsuccessful request
// on a line without faults: that must create the plant, once.
func (try trial) judge(ctx context.Context, got answer, p *plan, direct, faulty *dynamodb.Client, table string, wanted plant.NewPlant) error {
	key := try.key
	if key == "" {
		key = try.fresh
	}
	complete := stored{wanted.Name, plant.NewWriteKey("gardener", key).String()}
	there, err := find(ctx, direct, table, try.id)
	if err != nil {
		return err
	}
	switch {
	case got.code == 0 && got.name == wanted.Name && there == complete:
		return nil
	case got.code == 5002 && got.key == key && there == stored{}:
	case got.code == 5004 && got.key == key && (there == stored{} || there == complete):
	default:
		return fmt.Errorf("answer = %v with key %q while the table holds %+v", got, got.key, there)
	}
	p.set(fmt.Sprint(try.id), 0)
	response, err := createPlant(faulty, table, nil).Invoke(ctx, event(wanted, got.key))
	if err != nil {
		return err
	}
	again, err := decode(response)
	if err != nil {
		return err
	}
	there, err = find(ctx, direct, table, try.id)
	if err == nil && (again.code != 0 || there != complete) {
		return fmt.Errorf("after %v, repeated with its key = %v while the table holds %+v", got, again, there)
	}
	return err
}

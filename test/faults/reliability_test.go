package reliability

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"plantstore/internal/api"
	"plantstore/internal/dynamo"
	"plantstore/internal/plant"
)

// createPlant returns the handler of POST /plants on a table.
func createPlant(client *dynamodb.Client, table string, newKey func() string) *api.CreatePlant {
	return &api.CreatePlant{
		Plants: &dynamo.PlantStore{Client: client, Table: table},
		Log:    slog.New(slog.DiscardHandler),
		Now:    time.Now,
		NewKey: newKey,
	}
}

// event returns the event of a request that creates p, with the subject
// gardener, and an idempotency key unless it is empty.
func event(p plant.NewPlant, key string) []byte {
	body, _ := json.Marshal(map[string]any{"id": p.ID, "name": p.Name})
	headers := map[string]string{"content-type": "application/json"}
	if key != "" {
		headers["idempotency-key"] = key
	}
	event, _ := json.Marshal(map[string]any{
		"version": "2.0",
		"headers": headers,
		"body":    string(body),
		"requestContext": map[string]any{"authorizer": map[string]any{"lambda": map[string]string{
			"verdict": "allow", "subject": "gardener", "token_id": "t1",
			"presented": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", // of no Authorization value
		}}},
	})
	return event
}

// An answer is what a client gets.
type answer struct {
	code int // of the error, 0 for a plant
	name string
	key  string // to repeat with
}

func (a answer) String() string { return fmt.Sprintf("%d %q", a.code, a.name) }

// decode reads a function's answer.
func decode(response []byte) (a answer, err error) {
	var outer struct {
		StatusCode int
		Headers    map[string]string
		Body       string
	}
	if err := json.Unmarshal(response, &outer); err != nil {
		return a, fmt.Errorf("answer %q: %w", response, err)
	}
	return decodeBody(outer.StatusCode, outer.Body, outer.Headers["idempotency-key"])
}

func decodeBody(status int, body, key string) (a answer, err error) {
	var inner struct {
		Error int
		Name  string
	}
	if err := json.Unmarshal([]byte(body), &inner); err != nil {
		return a, fmt.Errorf("body %q: %w", body, err)
	}
	if (status == http.StatusOK) != (inner.Error == 0 && inner.Name != "") || (status != http.StatusOK && status != http.StatusBadRequest) {
		return a, fmt.Errorf("answer %d %s is neither a Plant nor an Error", status, body)
	}
	return answer{inner.Error, inner.Name, key}, nil
}

// stored is a plant in the table; the zero value means that there is none.
type stored struct{ name, writeKey string }

// find reads the plant with this id from the table, past everything under test.
func find(ctx context.Context, client *dynamodb.Client, table string, id int64) (stored, error) {
	out, err := client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &table,
		Key:            map[string]types.AttributeValue{"id": &types.AttributeValueMemberN{Value: fmt.Sprint(id)}},
		ConsistentRead: aws.Bool(true),
	})
	if err != nil || out.Item == nil {
		return stored{}, err
	}
	name, _ := out.Item["name"].(*types.AttributeValueMemberS)
	key, _ := out.Item["write_key"].(*types.AttributeValueMemberS)
	return stored{name.Value, key.Value}, nil
}

func newPlant(id int64, name string) plant.NewPlant {
	return plant.NewPlant{ID: id, Plant: plant.Plant{Name: name}}
}

// A crowd does things at once, but only so many.
type crowd struct {
	group sync.WaitGroup
	limit chan struct{}
}

func newCrowd(limit int) *crowd { return &crowd{limit: make(chan struct{}, limit)} }

func (c *crowd) add(do func()) {
	c.group.Go(func() {
		c.limit <- struct{}{}
		defer func() { <-c.limit }()
		do()
	})
}

func (c *crowd) wait() { c.group.Wait() }

// A pulse notices when the machine holds this process up, so that its time is not
// taken for the service's.
type pulse struct {
	mu      sync.Mutex
	pauses  [][2]time.Time
	skipped int
}

// newPulse starts a pulse that beats until the test ends. It then says how many
// answers were not judged by their time.
func newPulse(t *testing.T) *pulse {
	t.Helper()
	const interval, pause = 10 * time.Millisecond, 60 * time.Millisecond
	p := new(pulse)
	done := make(chan struct{})
	go func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for last := time.Now(); ; {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			now := time.Now()
			if now.Sub(last) > pause {
				p.mu.Lock()
				p.pauses = append(p.pauses, [2]time.Time{last, now})
				p.mu.Unlock()
			}
			last = now
		}
	}()
	t.Cleanup(func() {
		close(done)
		if p.skipped > 0 {
			t.Logf("the machine held the tests up: the time of %d answers was not judged", p.skipped)
		}
	})
	return p
}

// steady reports whether the process ran without a pause since start.
func (p *pulse) steady(start time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, pause := range p.pauses {
		if pause[1].After(start) {
			p.skipped++
			return false
		}
	}
	return true
}

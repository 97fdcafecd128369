package dynamo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"plantstore/internal/plant"
	"plantstore/internal/token"
)

// A request to create alice's fern has 2.7 s. An attempt reaches the table only if it is answered or applied. The
// columns: what happens to the attempts, the code that the client is told, what is stored, what the log names.
const faultTable = `
answered                                                         | 200 | alice's fern        |

no server is found; answered                                     | 200 | alice's fern        |
the connection breaks; answered                                  | 200 | alice's fern        |
no answer comes; answered                                        | 200 | alice's fern        |
DynamoDB fails; answered                                         | 200 | alice's fern        |
it is throttled; answered                                        | 200 | alice's fern        |
it is over a limit of the account; answered                      | 200 | alice's fern        |
it conflicts with a transaction; answered                        | 200 | alice's fern        |
it conflicts with another region; answered                       | 200 | alice's fern        |
a refusal is cut; answered                                       | 200 | alice's fern        |
a proxy waits too long; answered                                 | 200 | alice's fern        |
a proxy limits the rate; answered                                | 200 | alice's fern        |
a proxy refuses in HTML; answered                                | 200 | alice's fern        |
a proxy redirects; answered                                      | 200 | alice's fern        |

applied, but the connection breaks; answered                     | 200 | alice's fern        |
applied, but no answer comes; answered                           | 200 | alice's fern        |
applied, but DynamoDB fails; answered                            | 200 | alice's fern        |
applied, but the answer is cut; answered                         | 200 | alice's fern        |
applied, but the answer stalls; answered                         | 200 | alice's fern        |
applied, but the answer is no JSON; answered                     | 200 | alice's fern        |

applied, but no answer comes; no answer comes; answered          | 200 | alice's fern        |
DynamoDB fails; DynamoDB fails; DynamoDB fails; answered         | 200 | alice's fern        |

bob's fern is there; answered                                    | 3001 | bob's fern          |
bob's fern is there; the connection breaks; answered             | 3001 | bob's fern          |
a keyless fern is there; answered                                | 3001 | a keyless fern      |
alice's edited fern is there; answered                           | 200 | alice's edited fern |
alice's noted fern is there; answered                            | 200 | alice's noted fern  |
alice's ficus is there; answered                                 | 3002 | alice's ficus       |
alice's tagged fern is there; answered                           | 3002 | alice's tagged fern |

access is denied                                                 | 5001 | nothing             | AccessDenied
another server denies access                                     | 5001 | nothing             | AccessDenied
it is throttled; access is denied                                | 5001 | nothing             | AccessDenied
applied, but the connection breaks; the table is gone            | 5001 | alice's fern        | ResourceNotFound

no server is found, and so on                                    | 5002 | nothing             | no such host
no answer comes, and so on                                       | 5002 | nothing             | deadline exceeded
DynamoDB fails, and so on                                        | 5002 | nothing             | InternalServerError
it is throttled, and so on                                       | 5002 | nothing             | Throttling
it is throttled slowly, and so on                                | 5002 | nothing             | Throttling
it is over a limit of the account, and so on                     | 5002 | nothing             | RequestLimitExceeded
applied, but the connection breaks; no answer comes, and so on   | 5002 | alice's fern        | deadline exceeded
applied, but the connection breaks; the item is not returned     | 5002 | alice's fern        | item was not returned
`

func TestFaults(t *testing.T) {
	for line := range strings.Lines(faultTable) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		t.Run(cells[0], func(t *testing.T) {
			for range 20 { // because delays are random
				synctest.Test(t, func(t *testing.T) { testFaults(t, cells[0], cells[1]+" | "+cells[2], cells[3]) })
			}
		})
	}
}

func testFaults(t *testing.T, outcomes, want, cause string) {
	attempts, endless := strings.CutSuffix(outcomes, ", and so on")
	existing, rest, isThere := strings.Cut(attempts, " is there; ")
	if isThere {
		attempts = rest
	}
	fake := newFake(attempts)
	if isThere {
		fake.store(plantItems[existing])
	}
	start := time.Now()
	err := create(t, fake, "alice")
	if got := code(err) + " | " + fake.plant(); got != want {
		t.Errorf("Create = %v\ngot  %s\nwant %s", err, got, want)
	}
	if !strings.Contains(fmt.Sprint(err), cause) {
		t.Errorf("Create = %v, want %q in it", err, cause)
	}
	n := len(fake.attempts)
	if endless && (n < 3 || n > 25) || !endless && n != 1+strings.Count(attempts, "; ") {
		t.Errorf("Create made %d attempts, want those of the row, or 3 to 25 if they go on", n)
	}
	if last := fake.attempts[n-1].Sub(start); last > 2600*time.Millisecond {
		t.Errorf("an attempt began after %v, want none in the last 100 ms", last)
	}
}

// create creates the subject's fern, within 2.7 s.
func create(t *testing.T, fake *fake, subject string) error {
	ctx, cancel := context.WithTimeout(t.Context(), 2700*time.Millisecond)
	defer cancel()
	store := &Plants{Client: newClient(fake), Table: "plants"}
	return store.Create(ctx, plant.Write{
		NewPlant: plant.NewPlant{ID: 1, Plant: plant.Plant{Name: "fern"}},
		WriteKey: subject + "'s key",
		Subject:  subject,
		Time:     time.Date(2026, 3, 1, 13, 0, 0, 0, time.FixedZone("CET", 3600)),
	})
}

// plantItems are what the table may have. Other programs read these attributes.
var plantItems = map[string]string{
	"alice's fern":        fern,
	"bob's fern":          strings.ReplaceAll(fern, "alice", "bob"),
	"alice's ficus":       strings.Replace(fern, "fern", "ficus", 1),
	"alice's tagged fern": strings.Replace(fern, `"write_key"`, `"tag":{"S":""},"write_key"`, 1),
	"a keyless fern":      strings.Replace(fern, `,"write_key":{"S":"alice's key"}`, "", 1),
	"alice's noted fern":  strings.Replace(fern, "{", `{"TAG":{"S":"note"},`, 1),
	"alice's edited fern": strings.Replace(fern, "2026-03-01T12:00:00Z", "yesterday", 1),
}

const fern = `{"created_at":{"S":"2026-03-01T12:00:00Z"},"created_by":{"S":"alice"},"id":{"N":"1"},` +
	`"name":{"S":"fern"},"write_key":{"S":"alice's key"}}`

// plant names what the table has.
func (f *fake) plant() string {
	text := encode(f.items["1"])
	for name, item := range plantItems {
		if item == text {
			return name
		}
	}
	return strings.Replace(text, "null", "nothing", 1)
}

// code returns the code that a client gets for an error.
func code(err error) string {
	for code, promised := range map[string]error{
		"200": nil, "3001": plant.ErrExists, "3002": plant.ErrKeyReused, "5002": plant.ErrUnavailable,
		"2003": token.ErrNotFound, "5003": token.ErrUnavailable,
	} {
		if errors.Is(err, promised) {
			return code
		}
	}
	return "5001"
}

// Of writes of one id that race under random faults, those with one key win. Each 200 is the winner's, and each 3001 is
// another's.
func TestRacingWrites(t *testing.T) {
	outcomes := []string{
		"answered", "the connection breaks", "applied, but the connection breaks", "it is throttled",
		"answered", "no answer comes", "applied, but no answer comes", "applied, but DynamoDB fails",
	}
	subjects := []string{"alice", "alice", "alice", "bob", "bob", "bob"}
	told := map[string]int{}
	for seed := range uint64(100) {
		synctest.Test(t, func(t *testing.T) {
			fake := newFake("answered")
			random := rand.New(rand.NewPCG(seed, 0))
			fake.outcome = func() string { return outcomes[random.IntN(len(outcomes))] }
			answers := make([]string, len(subjects))
			var group sync.WaitGroup
			for i, subject := range subjects {
				group.Go(func() { answers[i] = code(create(t, fake, subject)) })
			}
			group.Wait()
			for i, subject := range subjects {
				won := fake.plant() == subject+"'s fern"
				if got := answers[i]; got != "5002" && (got != "200" || !won) && (got != "3001" || won) {
					t.Errorf("seed %d: %s is told %s, and %s is stored", seed, subject, got, fake.plant())
				}
				told[answers[i]]++
			}
		})
	}
	if told["200"] < 100 || told["3001"] < 100 {
		t.Errorf("the answers are %v, want 100 and more of 200 and of 3001", told)
	}
}

// In a long outage, a client uses up its quota of retries. Then each call makes one attempt.
func TestQuota(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		fake := newFake("DynamoDB fails")
		store := &Plants{Client: newClient(fake), Table: "plants"}
		_ = store.Create(ctx, plant.Write{}) // until the quota ends it
		before := len(fake.attempts)
		err := store.Create(ctx, plant.Write{})
		if n := len(fake.attempts) - before; n != 1 || code(err) != "5002" {
			t.Errorf("Create = %v after %d attempts, want 5002 after one", err, n)
		}
	})
}

// Delays are random.
func TestDelay(t *testing.T) {
	for retry, want := range map[int]time.Duration{1: 25 * time.Millisecond, 3: 100 * time.Millisecond, 99: time.Second} {
		shortest, longest := want, time.Duration(0)
		for range 1000 {
			delay, _ := (&retryer{ctx: t.Context()}).RetryDelay(retry, nil)
			shortest, longest = min(shortest, delay), max(longest, delay)
		}
		if shortest > want/10 || longest > want || longest < want*9/10 {
			t.Errorf("the delays before retry %d are %v to %v, want 0 to %v", retry, shortest, longest, want)
		}
	}
}

func TestWithoutTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	fake := newFake("answered")
	err := (&Plants{Client: newClient(fake), Table: "plants"}).Create(ctx, plant.Write{})
	if code(err) != "5002" || len(fake.attempts) != 0 {
		t.Errorf("Create = %v after %d attempts, want 5002 after none", err, len(fake.attempts))
	}
}

func TestWithoutCredentials(t *testing.T) {
	expired := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{}, errors.New("the credentials have expired")
	})
	store := &Plants{Client: NewClient(aws.Config{Region: "us-east-1", Credentials: expired}), Table: "plants"}
	if err := store.Create(t.Context(), plant.Write{}); code(err) != "5001" {
		t.Errorf("Create = %v, want 5001", err)
	}
}

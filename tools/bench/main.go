// Command bench measures the built functions against an empty one, all in one
// run and interleaved, and prints ratios. Beside ours it measures the default
// way to write such a function, bench/baseline. It is for `make bench`;
// docs/performance.md says what it found.
//
// Each function runs as Lambda runs it, behind the Runtime API, and has for
// DynamoDB a stand-in on loopback that answers over TLS.
package main

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"time"
)

// A share of the CPU is dealt out each period. The long one is the kernel's
// default; Lambda's is not documented.
const (
	longPeriod  = 100 * time.Millisecond
	shortPeriod = 20 * time.Millisecond
)

// farLatency is about what DynamoDB takes to answer a put inside a region.
const farLatency = 4 * time.Millisecond

func main() {
	starts := flag.Int("starts", 30, "cold starts of each function, for each figure")
	calls := flag.Int("calls", 2000, "warm calls of each function, for each figure")
	sizes := flag.Bool("sizes", false, "measure what each memory size takes and costs instead")
	flag.Parse()
	if err := run(*starts, *calls, *sizes); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is what the measurements share.
type bench struct {
	near, far *httptest.Server
	refusing  string // an endpoint that refuses connections
	subjects  []subject
}

func run(starts, calls int, sizes bool) error {
	folder, err := os.MkdirTemp("", "plantstore-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	certificate, err := newCertificate()
	if err != nil {
		return err
	}
	b := bench{near: standIn(certificate, 0), far: standIn(certificate, farLatency)}
	defer b.near.Close()
	defer b.far.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	b.refusing = "https" + gone.URL[len("http"):]
	trusted, system, err := trust(folder, certificate)
	if err != nil {
		return err
	}
	if b.subjects, err = newSubjects(folder, trusted, system); err != nil {
		return err
	}
	if sizes {
		return b.printSizes(os.Stdout, calls)
	}
	cold, err := b.cold(starts)
	if err != nil {
		return err
	}
	warm, err := b.warm(calls)
	if err != nil {
		return err
	}
	printTable(os.Stdout, append(cold, warm...), b.subjects)
	return nil
}

// cold measures starts. The measures and the functions take turns.
func (b *bench) cold(starts int) ([]*figures, error) {
	measures := []struct {
		figures
		take func(s subject) (time.Duration, error)
	}{
		{figures{measure: "init, endpoint refusing", unit: "ms"}, func(s subject) (time.Duration, error) { return s.initialization(b.refusing) }},
		{figures{measure: "cold total", unit: "ms"}, func(s subject) (time.Duration, error) { return s.coldTotal(b.near.URL, "") }},
		{figures{measure: "cold total, store 4 ms away", unit: "ms"}, func(s subject) (time.Duration, error) { return s.coldTotal(b.far.URL, "") }},
		{figures{measure: "cold total, 128 MB share", unit: "ms"}, func(s subject) (time.Duration, error) { return s.coldTotalAt(b.near.URL, longPeriod) }},
		{figures{measure: "the same, dealt out every 20 ms", unit: "ms"}, func(s subject) (time.Duration, error) { return s.coldTotalAt(b.near.URL, shortPeriod) }},
	}
	if _, err := b.subjects[0].coldTotalAt(b.near.URL, longPeriod); err != nil {
		fmt.Fprintln(os.Stderr, "left out: the 128 MB share, as there is no cgroup v1 to limit the CPU by:", err)
		measures = measures[:len(measures)-2]
	}
	rows := make([]*figures, len(measures))
	for round := range starts {
		for i := range measures {
			m := &measures[i]
			rows[i] = &m.figures
			for j := range b.subjects {
				s := b.subjects[(round+j)%len(b.subjects)]
				took, err := m.take(s)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", m.measure, s.name, err)
				}
				m.add(s.name, took.Seconds()*1000)
			}
		}
	}
	return rows, nil
}

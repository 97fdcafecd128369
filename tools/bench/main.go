// Command bench measures the built functions against an empty one, all in one run
// and in turns, and prints ratios. It also measures the default way to write such
// a function, tools/bench/baseline. docs/performance.md has what it found.
//
// Each function runs as Lambda runs it, behind the Runtime API. Its DynamoDB is a
// stand-in on loopback that answers over TLS.
package main

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"os"
	"time"
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

// bench is what the measurements share: the functions, and the URLs of DynamoDB.
type bench struct {
	subjects            []subject
	near, far, refusing string
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
	near, far := standIn(certificate, 0), standIn(certificate, farLatency)
	defer near.Close()
	defer far.Close()
	gone := httptest.NewTLSServer(nil)
	gone.Close()
	trusted, system, err := trust(folder, certificate)
	if err != nil {
		return err
	}
	subjects, err := newSubjects(folder, trusted, system)
	if err != nil {
		return err
	}
	b := bench{subjects, near.URL, far.URL, gone.URL}
	if sizes {
		return b.printSizes(calls)
	}
	cold, err := b.cold(starts)
	if err != nil {
		return err
	}
	warm, err := b.warm(calls)
	if err != nil {
		return err
	}
	b.print(append(cold, warm...))
	return nil
}

// cold measures starts. The measures and the functions take turns.
func (b *bench) cold(starts int) ([]*figures, error) {
	measures := []struct {
		name string
		take func(s subject) (time.Duration, error)
	}{
		{"init, endpoint refusing", func(s subject) (time.Duration, error) { return s.initialization(b.refusing) }},
		{"cold total", func(s subject) (time.Duration, error) { return s.coldTotal(b.near, fullCPU) }},
		{"cold total, store 4 ms away", func(s subject) (time.Duration, error) { return s.coldTotal(b.far, fullCPU) }},
		{"cold total, 128 MB share", func(s subject) (time.Duration, error) { return s.coldTotal(b.near, smallest) }},
	}
	if _, err := b.subjects[0].coldTotal(b.near, smallest); err != nil {
		fmt.Fprintln(os.Stderr, "left out: the 128 MB share, as there is no cgroup v1 to limit the CPU by:", err)
		measures = measures[:len(measures)-1]
	}
	rows := make([]*figures, len(measures))
	for i, m := range measures {
		rows[i] = newFigures(m.name, "ms")
	}
	for round := range starts {
		for i, m := range measures {
			for j := range b.subjects {
				s := b.subjects[(round+j)%len(b.subjects)]
				took, err := m.take(s)
				if err != nil {
					return nil, fmt.Errorf("%s: %s: %w", m.name, s.name, err)
				}
				rows[i].add(s, took.Seconds()*1000)
			}
		}
	}
	return rows, nil
}

// warm measures calls of functions that run already, and the memory that their
// processes have used after them.
func (b *bench) warm(calls int) ([]*figures, error) {
	wall, far := newFigures("warm wall", "µs"), newFigures("warm wall, store 4 ms away", "µs")
	cpu, memory := newFigures("warm CPU", "µs"), newFigures("peak memory", "MB")
	if err := b.rounds(b.far, calls, far, newFigures("", ""), newFigures("", "")); err != nil {
		return nil, err
	}
	return []*figures{wall, far, cpu, memory}, b.rounds(b.near, calls, wall, cpu, memory)
}

// rounds calls each function as often, in turns of one block.
func (b *bench) rounds(endpoint string, calls int, wall, cpu, memory *figures) error {
	running := make([]*process, len(b.subjects))
	for i, s := range b.subjects {
		p, _, err := s.start(endpoint)
		if err != nil {
			return err
		}
		defer p.Stop()
		running[i] = p
		if err := p.block(newFigures("", ""), newFigures("", "")); err != nil {
			return err
		}
	}
	for range calls / block {
		for _, p := range running {
			if err := p.block(wall, cpu); err != nil {
				return err
			}
		}
	}
	for _, p := range running {
		kB, err := p.peakMemory()
		if err != nil {
			return err
		}
		memory.add(p.subject, kB/1000)
	}
	return nil
}

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

// failure is an error that ends the benchmark.
type failure struct{ error }

// must returns value, or ends the benchmark by a panic with a failure.
func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// bench is what the measurements share: the functions, and the URLs of DynamoDB.
type bench struct {
	subjects            []subject
	near, far, refusing string
}

func run(starts, calls int, sizes bool) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = p.error
		default:
			panic(p)
		}
	}()
	folder := must(os.MkdirTemp("", "plantstore-bench-"))
	defer func() { _ = os.RemoveAll(folder) }()
	certificate := newCertificate()
	near, far := standIn(certificate, 0), standIn(certificate, farLatency)
	defer near.Close()
	defer far.Close()
	gone := httptest.NewTLSServer(nil)
	gone.Close()
	b := bench{newSubjects(folder, certificate), near.URL, far.URL, gone.URL}
	if sizes {
		b.printSizes(calls)
	} else {
		b.print(append(b.cold(starts), b.warm(calls)...))
	}
	return nil
}

// cold measures starts. The measures and the functions take turns.
func (b *bench) cold(starts int) []*figures {
	measures := []struct {
		name string
		take func(s subject) time.Duration
	}{
		{"init, endpoint refusing", func(s subject) time.Duration { return s.initialization(b.refusing) }},
		{"cold total", func(s subject) time.Duration { return s.coldTotal(b.near, fullCPU) }},
		{"cold total, store 4 ms away", func(s subject) time.Duration { return s.coldTotal(b.far, fullCPU) }},
		{"cold total, 128 MB share", func(s subject) time.Duration { return s.coldTotal(b.near, smallest) }},
	}
	probe, err := os.MkdirTemp(groups, "plantstore-bench-")
	if _ = os.Remove(probe); err != nil {
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
				rows[i].add(s, m.take(s).Seconds()*1000)
			}
		}
	}
	return rows
}

// warm measures calls of functions that run already, and the memory that their
// processes have used after them.
func (b *bench) warm(calls int) []*figures {
	wall, far := newFigures("warm wall", "µs"), newFigures("warm wall, store 4 ms away", "µs")
	cpu, memory := newFigures("warm CPU", "µs"), newFigures("peak memory", "MB")
	b.rounds(b.far, calls, far, newFigures("", ""), newFigures("", ""))
	b.rounds(b.near, calls, wall, cpu, memory)
	return []*figures{wall, far, cpu, memory}
}

// rounds calls each function as often, in turns of one block.
func (b *bench) rounds(endpoint string, calls int, wall, cpu, memory *figures) {
	running := make([]*process, len(b.subjects))
	for i, s := range b.subjects {
		running[i], _ = s.start(endpoint)
		defer running[i].Stop()
		running[i].block(newFigures("", ""), newFigures("", ""))
	}
	for range calls / block {
		for _, p := range running {
			p.block(wall, cpu)
		}
	}
	for _, p := range running {
		memory.add(p.subject, p.peakMemory())
	}
}

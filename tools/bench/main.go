// Command bench measures the built functions against an empty one, in turns, and
// prints ratios of medians. It also measures the default way to write such a
// function, tools/bench/baseline. `make bench` builds what it needs.
//
// Each function runs as Lambda runs it, behind the Runtime API. Its DynamoDB is a
// stand-in on loopback that answers over TLS.
package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"slices"
	"time"
)

const (
	starts = 30   // cold starts of each function, for each measure
	calls  = 2000 // warm calls of each function
	block  = 50   // warm calls of one function before it is the next one's turn

	farLatency = 4 * time.Millisecond // about what DynamoDB takes for a put inside a region
)

func main() {
	near, far, refusing := standIn(0), standIn(farLatency), httptest.NewTLSServer(nil)
	refusing.Close()
	functions := newFunctions()
	fmt.Println("| median ÷ empty | empty | default way | createplant | authorizer | authorizer, wrong checksum |")
	fmt.Println("|---|---|---|---|---|---|")
	cold(functions, "init, endpoint refusing (ms)", func(f function) time.Duration {
		p, took := f.start(refusing.URL)
		p.Stop()
		return took
	})
	cold(functions, "cold total (ms)", func(f function) time.Duration { return f.cold(near.URL, wholeCPU) })
	cold(functions, "cold total, store 4 ms away (ms)", func(f function) time.Duration { return f.cold(far.URL, wholeCPU) })
	cold(functions, "cold total, 128 MB share (ms)", func(f function) time.Duration { return f.cold(near.URL, 128) })
	warm(functions, near.URL)
}

// check ends the benchmark if there is an error.
func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// must returns value, or ends the benchmark if there is an error.
func must[T any](value T, err error) T {
	check(err)
	return value
}

// cold prints a measure of starts.
func cold(functions []function, measure string, start func(f function) time.Duration) {
	values := make([][]float64, len(functions))
	for range starts {
		for i, f := range functions {
			values[i] = append(values[i], start(f).Seconds()*1e3)
		}
	}
	printRow(measure, values)
}

// warm prints measures of calls of functions that run already, and then the memory
// of their processes.
func warm(functions []function, endpoint string) {
	var running []process
	for _, f := range functions {
		p, _ := f.start(endpoint)
		defer p.Stop()
		running = append(running, p)
	}
	wall, cpu, memory := make([][]float64, len(running)), make([][]float64, len(running)), make([][]float64, len(running))
	for range calls / block {
		for i, p := range running {
			before := p.cpuTime()
			for range block {
				wall[i] = append(wall[i], p.call().Seconds()*1e6)
			}
			cpu[i] = append(cpu[i], (p.cpuTime()-before).Seconds()*1e6/block)
		}
	}
	for i, p := range running {
		memory[i] = []float64{p.peakMemory()}
	}
	printRow("warm wall (µs)", wall)
	printRow("warm CPU (µs)", cpu)
	printRow("peak memory (MB)", memory)
}

// printRow prints the median of the empty function, and the ratio to it of each
// other function's median.
func printRow(measure string, values [][]float64) {
	empty := median(values[0])
	fmt.Printf("| %s | %.3g", measure, empty)
	for _, of := range values[1:] {
		fmt.Printf(" | %.2f", median(of)/empty)
	}
	fmt.Println(" |")
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

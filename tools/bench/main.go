// Command bench measures the built functions against an empty one, in turns, and
// prints ratios of medians. It also measures the default way to write such a
// function, tools/bench/baseline. It draws the cold starts in docs/performance.svg.
// `make bench` builds what it needs.
//
// Each function runs as Lambda runs it, behind the Runtime API. Its DynamoDB is a
// stand-in on loopback that answers over TLS.
package main

import (
	"fmt"
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
	near, far := standIn(0).URL, standIn(farLatency).URL
	functions := newFunctions()
	fmt.Print("| median ÷ empty |")
	for _, f := range functions {
		fmt.Print(" ", f.name, " |")
	}
	fmt.Println("\n|---|---|---|---|---|")
	coldNear := cold("cold total (ms)", functions, near)
	coldFar := cold("cold total, store 4 ms away (ms)", functions, far)
	warm(functions, near)
	draw(functions, coldNear, coldFar)
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

// cold prints how long starts and first answers take, and returns the median of each function.
func cold(measure string, functions []function, endpoint string) (medians []float64) {
	values := make([][]float64, len(functions))
	for range starts {
		for i, f := range functions {
			values[i] = append(values[i], f.cold(endpoint).Seconds()*1e3)
		}
	}
	printRow(measure, values)
	for _, of := range values {
		medians = append(medians, median(of))
	}
	return medians
}

// warm prints measures of calls of functions that run already.
func warm(functions []function, endpoint string) {
	var running []*process
	for _, f := range functions {
		p := f.start(endpoint)
		defer p.stop()
		running = append(running, p)
	}
	wall, cpu := make([][]float64, len(running)), make([][]float64, len(running))
	for range calls / block {
		for i, p := range running {
			before := p.cpuTime()
			for range block {
				wall[i] = append(wall[i], p.call().Seconds()*1e6)
			}
			cpu[i] = append(cpu[i], (p.cpuTime()-before).Seconds()*1e6/block)
		}
	}
	printRow("warm wall (µs)", wall)
	printRow("warm CPU (µs)", cpu)
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

package main

import (
	"fmt"
	"io"
	"math"
)

// sizes are the memory sizes to compare, in MB.
var sizes = []int{smallest, 192, 256, 512, 1024, fullCPU}

// printSizes calls createplant and the authorizer, with the store 4 ms away, with
// the share of a CPU that each memory size has, one call after the other, and
// prints how long they take and what that costs: the duration, in whole
// milliseconds as Lambda bills it, times the memory size.
func (b *bench) printSizes(w io.Writer, calls int) error {
	fmt.Fprintln(w, "| memory | createplant, median (p99) | authorizer, median (p99) | cost of both ÷ at 128 MB |")
	fmt.Fprintln(w, "|---|---|---|---|")
	first := 0.0
	for _, size := range sizes {
		cost, row := 0.0, fmt.Sprintf("| %d MB", size)
		for _, s := range b.subjects {
			if s.name != "createplant" && s.name != "authorizer" {
				continue
			}
			took, err := b.warmAt(s, size, calls)
			if err != nil {
				return err
			}
			for _, ms := range took.found[s.name] {
				cost += math.Ceil(ms) * float64(size)
			}
			row += fmt.Sprintf(" | %.1f ms (%.0f ms)", took.quantile(s.name, 0.5), took.quantile(s.name, 0.99))
		}
		if first == 0 {
			first = cost
		}
		fmt.Fprintf(w, "%s | %.2f |\n", row, cost/first)
	}
	return nil
}

// warmAt returns the times of calls, in ms, with the CPU of a memory size.
func (b *bench) warmAt(s subject, size, calls int) (*figures, error) {
	part, err := newShare(size, longPeriod)
	if err != nil {
		return nil, err
	}
	defer part.remove()
	f, _, err := s.ready(b.far.URL)
	if err != nil {
		return nil, err
	}
	defer f.Stop()
	if err := part.add(f.Process.Process); err != nil {
		return nil, err
	}
	took := new(figures)
	for range calls {
		d, err := s.call(f)
		if err != nil {
			return nil, err
		}
		took.add(s.name, d.Seconds()*1000)
	}
	return took, nil
}

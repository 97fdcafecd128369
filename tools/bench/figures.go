package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// figures are what one measure found, by the subject's name, in its unit.
type figures struct {
	measure, unit string
	found         map[string][]float64
}

func newFigures(measure, unit string) *figures {
	return &figures{measure, unit, map[string][]float64{}}
}

func (f *figures) add(s subject, value float64) { f.found[s.name] = append(f.found[s.name], value) }

// quantile returns the q-quantile of what was found for s.
func (f *figures) quantile(s subject, q float64) float64 {
	values := slices.Sorted(slices.Values(f.found[s.name]))
	if len(values) == 0 {
		return math.NaN()
	}
	return values[int(math.Ceil(q*float64(len(values))))-1]
}

// print prints a row for each measure: the median of the empty function, and the
// ratio to it of each other function's median. In parentheses is the ratio of the
// 99th percentiles, if there are several values.
func (b *bench) print(rows []*figures) {
	empty := b.subjects[0]
	header := "| median ÷ empty (p99 ÷ p99)"
	for _, s := range b.subjects {
		header += " | " + s.name
	}
	fmt.Printf("%s |\n|%s\n", header, strings.Repeat("---|", len(b.subjects)+1))
	for _, row := range rows {
		fmt.Printf("| %s | %.3g %s", row.measure, row.quantile(empty, 0.5), row.unit)
		for _, s := range b.subjects[1:] {
			fmt.Printf(" | %.2f", row.quantile(s, 0.5)/row.quantile(empty, 0.5))
			if len(row.found[s.name]) > 1 {
				fmt.Printf(" (%.2f)", row.quantile(s, 0.99)/row.quantile(empty, 0.99))
			}
		}
		fmt.Println(" |")
	}
}

// printSizes calls createplant and the authorizer, with the store 4 ms away and the
// CPU of each memory size, one call after the other. It prints how long they take
// and what that costs: the duration, in whole milliseconds as Lambda bills it,
// times the memory size.
func (b *bench) printSizes(calls int) {
	fmt.Println("| memory | createplant, median (p99) | authorizer, median (p99) | cost of both ÷ at 128 MB |")
	fmt.Println("|---|---|---|---|")
	first := 0.0
	for _, size := range []int{smallest, 192, 256, 512, 1024, fullCPU} {
		cost, row := 0.0, fmt.Sprintf("| %d MB", size)
		for _, s := range b.subjects {
			if s.name != "createplant" && s.name != "authorizer" {
				continue
			}
			took := b.warmAt(s, size, calls)
			for _, ms := range took.found[s.name] {
				cost += math.Ceil(ms) * float64(size)
			}
			row += fmt.Sprintf(" | %.1f ms (%.0f ms)", took.quantile(s, 0.5), took.quantile(s, 0.99))
		}
		if first == 0 {
			first = cost
		}
		fmt.Printf("%s | %.2f |\n", row, cost/first)
	}
}

// warmAt returns the times of calls, in ms, with the CPU of a memory size.
func (b *bench) warmAt(s subject, size, calls int) *figures {
	p, _ := s.start(b.far)
	defer p.limit(size)()
	took := newFigures("", "ms")
	for range calls {
		took.add(s, p.call().Seconds()*1000)
	}
	return took
}

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// figures are what one measure found, by subject, in its unit.
type figures struct {
	measure, unit string
	found         map[string][]float64
}

func (f *figures) add(subject string, value float64) {
	if f.found == nil {
		f.found = make(map[string][]float64)
	}
	f.found[subject] = append(f.found[subject], value)
}

// quantile returns the q-quantile of what was found for subject, and NaN where
// nothing was.
func (f *figures) quantile(subject string, q float64) float64 {
	values := slices.Sorted(slices.Values(f.found[subject]))
	if len(values) == 0 {
		return math.NaN()
	}
	return values[int(math.Ceil(q*float64(len(values))))-1]
}

// printTable writes a row for each measure: the median of the first subject, and of
// each other the ratio of its median to that. Behind it, where there are
// several values, stands the ratio of the 99th percentiles.
func printTable(w io.Writer, rows []*figures, subjects []subject) {
	header := []string{"median ÷ empty (p99 ÷ p99)", subjects[0].name}
	for _, s := range subjects[1:] {
		header = append(header, s.name)
	}
	fmt.Fprintf(w, "| %s |\n|%s\n", strings.Join(header, " | "), strings.Repeat("---|", len(header)))
	for _, row := range rows {
		empty := subjects[0].name
		fmt.Fprintf(w, "| %s | %.3g %s", row.measure, row.quantile(empty, 0.5), row.unit)
		for _, s := range subjects[1:] {
			switch len(row.found[s.name]) {
			case 0:
				fmt.Fprint(w, " | ")
			case 1:
				fmt.Fprintf(w, " | %.2f", row.quantile(s.name, 0.5)/row.quantile(empty, 0.5))
			default:
				fmt.Fprintf(w, " | %.2f (%.2f)", row.quantile(s.name, 0.5)/row.quantile(empty, 0.5), row.quantile(s.name, 0.99)/row.quantile(empty, 0.99))
			}
		}
		fmt.Fprintln(w, " |")
	}
}

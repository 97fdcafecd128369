package main

import (
	_ "embed" // for picture.svg
	"fmt"
	"os"
	"slices"
	"text/template"
)

//go:embed picture.svg
var picture string

// A bar shows what a function spends its time on until its first answer.
type bar struct {
	Name  string
	Parts []part
	Total part // beside the bar
}

// A part of a bar stands for a time. X and Width are units of the picture.
type part struct {
	X, Width int
	Color    string
	Time     string // in ms
}

// draw draws a bar for each function but the first, which is the empty one. near and far are the medians
// of its cold starts, in ms.
func draw(functions []function, near, far []float64) {
	colors := []string{"#8c959f", "#54aeff", "#d4a72c"} // as in the key of picture.svg
	const widest = 560                                  // units for the longest time
	scale := widest / slices.Max(far)
	var bars []bar
	for i, f := range functions {
		if i == 0 {
			continue
		}
		b := bar{Name: f.name}
		x := 0
		for n, time := range []float64{near[0], near[i] - near[0], far[i] - near[i]} {
			width := int(max(time, 0) * scale)
			b.Parts = append(b.Parts, part{X: x, Width: width, Color: colors[n], Time: fmt.Sprintf("%.1f", time)})
			x += width
		}
		b.Total = part{X: x, Time: fmt.Sprintf("%.1f", far[i])}
		bars = append(bars, b)
	}
	parsed := template.Must(template.New("picture").Funcs(template.FuncMap{
		"row": func(i int) int { return 76 + 40*i },
	}).Parse(picture))
	file := must(os.Create("docs/performance.svg"))
	check(parsed.Execute(file, bars))
	check(file.Close())
}

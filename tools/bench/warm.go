package main

import (
	"fmt"

	"plantstore/test/runtimeapi"
)

// block is how many calls a function answers before it is the next one's turn.
const block = 50

// warm measures calls of functions that run already, and the functions'
// processes after them.
func (b *bench) warm(calls int) ([]*figures, error) {
	wall := &figures{measure: "warm wall", unit: "µs"}
	cpu := &figures{measure: "warm CPU", unit: "µs"}
	memory := &figures{measure: "peak memory", unit: "MB"}
	far := &figures{measure: "warm wall, store 4 ms away", unit: "µs"}
	size := &figures{measure: "zip", unit: "MB"}
	if err := b.rounds(b.far.URL, calls, far, new(figures), new(figures)); err != nil {
		return nil, err
	}
	if err := b.rounds(b.near.URL, calls, wall, cpu, memory); err != nil {
		return nil, err
	}
	for _, s := range b.subjects {
		bytes, err := s.zipSize()
		if err != nil {
			return nil, err
		}
		size.add(s.name, float64(bytes)/1e6)
	}
	return []*figures{wall, far, cpu, memory, size}, nil
}

// rounds calls each function as often, in turns.
func (b *bench) rounds(endpoint string, calls int, wall, cpu, memory *figures) error {
	running := make([]*runtimeapi.Function, len(b.subjects))
	for i, s := range b.subjects {
		f, err := s.start(endpoint)
		if err != nil {
			return err
		}
		defer f.Stop()
		running[i] = f
		if err := s.block(f, new(figures), new(figures)); err != nil {
			return err
		}
	}
	for range calls / block {
		for i, s := range b.subjects {
			if err := s.block(running[i], wall, cpu); err != nil {
				return err
			}
		}
	}
	for i, s := range b.subjects {
		kB, err := peakMemory(running[i])
		if err != nil {
			return err
		}
		memory.add(s.name, float64(kB)/1000)
	}
	return nil
}

// block calls f as often as a block is long, and notes the time of each call
// and the mean CPU time of all.
func (s subject) block(f *runtimeapi.Function, wall, cpu *figures) error {
	before, err := cpuTime(f)
	if err != nil {
		return err
	}
	for range block {
		took, err := s.call(f)
		if err != nil {
			return fmt.Errorf("warm: %w", err)
		}
		wall.add(s.name, float64(took.Nanoseconds())/1000)
	}
	after, err := cpuTime(f)
	cpu.add(s.name, float64((after-before).Nanoseconds())/1000/block)
	return err
}

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"plantstore/test/runtimeapi"
)

// timeout of an invocation, as long as the longer of the template's.
const timeout = 10 * time.Second

// start starts the function with DynamoDB at endpoint.
func (s subject) start(endpoint string) (*runtimeapi.Function, error) {
	return runtimeapi.Start(s.binary, io.Discard, append(s.environment, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint)...)
}

// call invokes f once and returns how long it took to answer.
func (s subject) call(f *runtimeapi.Function) (time.Duration, error) {
	answer, took, err := f.Invoke(s.event, timeout)
	if err == nil && !bytes.Contains(answer, []byte(s.want)) {
		err = fmt.Errorf("%s answered %.200s, want %q in it", s.name, answer, s.want)
	}
	return took, err
}

// ready starts the function and returns the time until it asks for its first
// invocation.
func (s subject) ready(endpoint string) (*runtimeapi.Function, time.Duration, error) {
	f, err := s.start(endpoint)
	if err != nil {
		return nil, 0, err
	}
	select {
	case <-f.Ready:
		return f, time.Since(f.Started), nil
	case <-f.Ended:
		f.Stop()
		return nil, 0, fmt.Errorf("%s ended: %v", s.name, f.Process.ProcessState)
	}
}

// initialization returns the time from the start of the process until it asks
// for its first invocation.
func (s subject) initialization(endpoint string) (time.Duration, error) {
	f, took, err := s.ready(endpoint)
	if err == nil {
		f.Stop()
	}
	return took, err
}

// coldTotal returns the time from the start of the process until its first
// answer. From the end of its initialization on, which Lambda gives full CPU, the
// process has its part of the CPU, where there is one.
func (s subject) coldTotal(endpoint string, part share) (time.Duration, error) {
	f, initialization, err := s.ready(endpoint)
	if err != nil {
		return 0, err
	}
	defer f.Stop()
	if part != "" {
		if err := part.add(f.Process.Process); err != nil {
			return 0, err
		}
	}
	first, err := s.call(f)
	return initialization + first, err
}

// coldTotalAt is coldTotal with the smallest share of a CPU, dealt out each
// period, after the initialization. Each start has a share of its own, or the end
// of the process before it would use some up.
func (s subject) coldTotalAt(endpoint string, period time.Duration) (time.Duration, error) {
	part, err := newShare(smallest, period)
	if err != nil {
		return 0, err
	}
	defer part.remove()
	return s.coldTotal(endpoint, part)
}

// cpuTime returns the CPU time that the function's process has used, as the
// scheduler counts it, in nanoseconds.
func cpuTime(f *runtimeapi.Function) (total time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", f.Process.Process.Pid))
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("no CPU time of a process here: %w", err)
	}
	for _, file := range files {
		var onCPU time.Duration
		content, err := os.ReadFile(file)
		if err != nil {
			return 0, err
		}
		if _, err := fmt.Sscan(string(content), &onCPU); err != nil {
			return 0, err
		}
		total += onCPU
	}
	return total, nil
}

var highWaterMark = regexp.MustCompile(`VmHWM:\s+(\d+) kB`)

// peakMemory returns the largest resident memory of the function's process so
// far, in kB.
func peakMemory(f *runtimeapi.Function) (int, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.Process.Process.Pid))
	if err != nil {
		return 0, err
	}
	match := highWaterMark.FindSubmatch(status)
	if match == nil {
		return 0, fmt.Errorf("no VmHWM of process %d", f.Process.Process.Pid)
	}
	return strconv.Atoi(string(match[1]))
}

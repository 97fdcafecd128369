package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"plantstore/test/runtimeapi"
)

const (
	// timeout of an invocation, as long as the longer of the template's.
	timeout = 10 * time.Second

	// block is how many calls a function answers before it is the next one's turn.
	block = 50

	// smallest is the smallest memory size of Lambda, in MB, and fullCPU the one
	// with a whole CPU; a smaller one has its share of it. Source: Lambda Developer
	// Guide, "Configure Lambda function memory".
	smallest = 128
	fullCPU  = 1769

	// period is how often a share of the CPU is dealt out: the kernel's default, as
	// Lambda's is not documented.
	period = 100 * time.Millisecond
)

// process is a running function.
type process struct {
	subject
	*runtimeapi.Function
}

// start starts the function with DynamoDB at endpoint, and returns the time until
// it asks for its first invocation.
func (s subject) start(endpoint string) (*process, time.Duration, error) {
	f, err := runtimeapi.Start(s.binary, append(s.environment, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint)...)
	if err != nil {
		return nil, 0, err
	}
	select {
	case <-f.Ready:
		return &process{s, f}, time.Since(f.Started), nil
	case <-f.Ended:
		f.Stop()
		return nil, 0, fmt.Errorf("%s ended: %v, %s", s.name, f.Process.ProcessState, &f.Log)
	}
}

// initialization returns the time from the start of the process until it asks for
// its first invocation.
func (s subject) initialization(endpoint string) (time.Duration, error) {
	p, took, err := s.start(endpoint)
	if err == nil {
		p.Stop()
	}
	return took, err
}

// coldTotal returns the time from the start of the process until its first answer.
// From the end of its initialization on, for which Lambda gives full CPU, the
// process has the CPU of a memory size.
func (s subject) coldTotal(endpoint string, memory int) (time.Duration, error) {
	p, initialization, err := s.start(endpoint)
	if err != nil {
		return 0, err
	}
	defer p.Stop()
	remove, err := p.limit(memory)
	if err != nil {
		return 0, err
	}
	defer remove()
	first, err := p.call()
	return initialization + first, err
}

// call invokes the function and returns how long it took to answer.
func (p *process) call() (time.Duration, error) {
	answer, took, err := p.Invoke(p.event, timeout)
	if err == nil && !bytes.Contains(answer, []byte(p.want)) {
		err = fmt.Errorf("%s answered %.200s, want %q in it", p.name, answer, p.want)
	}
	return took, err
}

// block calls the function as often as a block is long, and adds the time of each
// call and the mean CPU time of all.
func (p *process) block(wall, cpu *figures) error {
	before, err := p.cpuTime()
	if err != nil {
		return err
	}
	for range block {
		took, err := p.call()
		if err != nil {
			return err
		}
		wall.add(p.subject, float64(took.Nanoseconds())/1000)
	}
	after, err := p.cpuTime()
	cpu.add(p.subject, float64((after-before).Nanoseconds())/1000/block)
	return err
}

// limit gives the process the CPU of a memory size in MB, by a control group of its
// own: the end of an earlier process would use some of a shared one. It needs the
// cpu controller of cgroup v1, and the right to use it. The caller removes the
// group when the process has ended.
func (p *process) limit(memory int) (remove func(), err error) {
	if memory == fullCPU {
		return func() {}, nil
	}
	group := fmt.Sprintf("/sys/fs/cgroup/cpu/plantstore-bench-%d-%d", os.Getpid(), memory)
	if err := os.Mkdir(group, 0o755); err != nil {
		return nil, err
	}
	remove = func() { p.Stop(); _ = os.Remove(group) }
	for _, setting := range []struct {
		file  string
		value int
	}{
		{"cpu.cfs_period_us", int(period.Microseconds())},
		{"cpu.cfs_quota_us", int(period.Microseconds()) * memory / fullCPU},
		{"cgroup.procs", p.Process.Process.Pid},
	} {
		if err := os.WriteFile(filepath.Join(group, setting.file), []byte(strconv.Itoa(setting.value)), 0o600); err != nil {
			remove()
			return nil, err
		}
	}
	return remove, nil
}

// cpuTime returns the CPU time that the process has used, as the scheduler counts
// it.
func (p *process) cpuTime() (total time.Duration, err error) {
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Process.Process.Pid))
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

// peakMemory returns the largest resident memory of the process so far, in kB.
func (p *process) peakMemory() (kB float64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	_, err = fmt.Sscan(after, &kB)
	return kB, err
}

package main

import (
	"bytes"
	"cmp"
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
func (s subject) start(endpoint string) (*process, time.Duration) {
	f := must(runtimeapi.Start(s.binary, append(s.environment, "AWS_ENDPOINT_URL_DYNAMODB="+endpoint)...))
	select {
	case <-f.Ready:
	case <-f.Ended:
		check(fmt.Errorf("%s ended: %v, %s", s.name, f.Process.ProcessState, &f.Log))
	}
	return &process{s, f}, time.Since(f.Started)
}

// initialization returns the time from the start of the process until it asks for
// its first invocation.
func (s subject) initialization(endpoint string) time.Duration {
	p, took := s.start(endpoint)
	p.Stop()
	return took
}

// coldTotal returns the time from the start of the process until its first answer.
// From the end of its initialization on, for which Lambda gives full CPU, the
// process has the CPU of a memory size.
func (s subject) coldTotal(endpoint string, memory int) time.Duration {
	p, initialization := s.start(endpoint)
	defer p.limit(memory)()
	return initialization + p.call()
}

// call invokes the function and returns how long it took to answer.
func (p *process) call() time.Duration {
	answer, took, err := p.Invoke(p.event, timeout)
	if err != nil || !bytes.Contains(answer, []byte(p.want)) {
		check(cmp.Or(err, fmt.Errorf("%s answered %.200s, want %q in it", p.name, answer, p.want)))
	}
	return took
}

// block calls the function as often as a block is long, and adds the time of each
// call and the mean CPU time of all.
func (p *process) block(wall, cpu *figures) {
	before := p.cpuTime()
	for range block {
		wall.add(p.subject, float64(p.call().Nanoseconds())/1000)
	}
	cpu.add(p.subject, float64((p.cpuTime()-before).Nanoseconds())/1000/block)
}

// groups is where control groups of the cpu controller of cgroup v1 are made.
const groups = "/sys/fs/cgroup/cpu"

// limit gives the process the CPU of a memory size in MB, and returns what stops
// it. The process has a control group of its own: the end of an earlier process
// would use some of a shared one.
func (p *process) limit(memory int) (stop func()) {
	if memory == fullCPU {
		return p.Stop
	}
	group := filepath.Join(groups, fmt.Sprintf("plantstore-bench-%d-%d", os.Getpid(), memory))
	check(os.Mkdir(group, 0o755))
	for _, setting := range []struct {
		file  string
		value int
	}{
		{"cpu.cfs_period_us", int(period.Microseconds())},
		{"cpu.cfs_quota_us", int(period.Microseconds()) * memory / fullCPU},
		{"cgroup.procs", p.Process.Process.Pid},
	} {
		check(os.WriteFile(filepath.Join(group, setting.file), []byte(strconv.Itoa(setting.value)), 0o600))
	}
	return func() {
		p.Stop()
		_ = os.Remove(group) // it is gone with the machine at the latest
	}
}

// cpuTime returns the CPU time of the process so far, as the scheduler counts it.
func (p *process) cpuTime() (total time.Duration) {
	for _, file := range must(filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", p.Process.Process.Pid))) {
		var onCPU time.Duration
		must(fmt.Sscan(string(must(os.ReadFile(file))), &onCPU))
		total += onCPU
	}
	return total
}

// peakMemory returns the largest resident memory of the process so far, in MB.
func (p *process) peakMemory() float64 {
	status := must(os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Process.Process.Pid)))
	_, after, _ := strings.Cut(string(status), "VmHWM:")
	var kB float64
	must(fmt.Sscan(after, &kB))
	return kB / 1000
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// smallest is the smallest memory size that Lambda has, in MB, and fullCPU
	// the one at which a function gets one whole CPU; a smaller one gets its share
	// of it. Source: Lambda Developer Guide, "Configure Lambda function memory".
	smallest = 128
	fullCPU  = 1769
)

// share is a control group whose processes get a part of a CPU.
type share string

// newShare makes the group that has the CPU of a function of this memory size in
// MB, dealt out each period. It needs the cpu controller of cgroup v1, and the
// right to use it.
func newShare(memory int, period time.Duration) (share, error) {
	s := share(filepath.Join("/sys/fs/cgroup/cpu", fmt.Sprintf("plantstore-bench-%d-%d", os.Getpid(), memory)))
	if err := os.Mkdir(string(s), 0o755); err != nil {
		return "", err
	}
	err := s.set("cpu.cfs_period_us", int(period.Microseconds()))
	if err != nil {
		return s, err
	}
	return s, s.set("cpu.cfs_quota_us", int(period.Microseconds())*memory/fullCPU)
}

// add puts a process into the group.
func (s share) add(process *os.Process) error { return s.set("cgroup.procs", process.Pid) }

func (s share) set(file string, value int) error {
	return os.WriteFile(filepath.Join(string(s), file), []byte(strconv.Itoa(value)), 0o600)
}

func (s share) remove() { _ = os.Remove(string(s)) } // it is gone with the machine at the latest

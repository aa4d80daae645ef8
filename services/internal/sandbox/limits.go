package sandbox

import (
	"cmp"
	"fmt"
	"time"
)

const (
	kib = 1 << 10
	mib = 1 << 20
	gib = 1 << 30
)

// Limits limit a module and its instances. A zero member means the default.
type Limits struct {
	Module        int           // bytes of a module's file
	Memory        int           // bytes of linear memory, counted in pages of 64 KiB
	Run           time.Duration // a run, from request to answer
	Start         time.Duration // from creating the process to the end of _initialize and mm_manifest, see busy
	Compile       time.Duration // compiling, once per module: processor time
	CompileMemory int           // bytes of memory for compiling
	Code          int           // bytes of machine code of a module
	Log           int           // bytes of log a run; each line counts 64 bytes more than it has
	Answer        int           // bytes of an answer
}

// DefaultLimits are the default limits. For comparison: a Go function of 2.3 MB needs 15 MB of linear memory for
// 100,000 tickets and 127 MB for a million, compiles in 1.5 s and starts in 50 to 80 ms. An answer for a million
// tickets is about 12 MB.
func DefaultLimits() Limits {
	return Limits{
		Module:        8 * mib,
		Memory:        defaults().Limits.Memory,
		Run:           5 * time.Second,
		Start:         5 * time.Second,
		Compile:       30 * time.Second,
		CompileMemory: gib,
		Code:          64 * mib,
		Log:           64 * kib,
		Answer:        32 * mib,
	}
}

// maxMemory is the most memory that an operator may give an instance. Above it a single function can take a machine
// down.
const maxMemory = gib

// complete fills in defaults, and refuses memory that is out of range.
func (l Limits) complete() (Limits, error) {
	if l.Memory < 0 || l.Memory > maxMemory {
		return l, fmt.Errorf("--function-memory: must be 0 to %d MiB", maxMemory/mib)
	}
	d := DefaultLimits()
	return Limits{
		Module: cmp.Or(l.Module, d.Module), Memory: cmp.Or(l.Memory, d.Memory), Run: cmp.Or(l.Run, d.Run),
		Start: cmp.Or(l.Start, d.Start), Compile: cmp.Or(l.Compile, d.Compile),
		CompileMemory: cmp.Or(l.CompileMemory, d.CompileMemory), Code: cmp.Or(l.Code, d.Code), Log: cmp.Or(l.Log, d.Log),
		Answer: cmp.Or(l.Answer, d.Answer),
	}, nil
}

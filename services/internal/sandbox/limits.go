package sandbox

import (
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

// ceilings are the highest limits that an operator may set. Above them a single function can take a machine down.
func ceilings() Limits {
	return Limits{
		Module:        32 * mib,
		Memory:        gib,
		Run:           time.Minute,
		Start:         time.Minute,
		Compile:       5 * time.Minute,
		CompileMemory: 4 * gib,
		Code:          gib,
		Log:           mib,
		Answer:        256 * mib,
	}
}

// complete fills in defaults and refuses what is out of range.
func (l Limits) complete() (Limits, error) {
	d, c := DefaultLimits(), ceilings()
	var err error
	l.Module = bounded("Module", l.Module, d.Module, c.Module, &err)
	l.Memory = bounded("Memory", l.Memory, d.Memory, c.Memory, &err)
	l.Run = bounded("Run", l.Run, d.Run, c.Run, &err)
	l.Start = bounded("Start", l.Start, d.Start, c.Start, &err)
	l.Compile = bounded("Compile", l.Compile, d.Compile, c.Compile, &err)
	l.CompileMemory = bounded("CompileMemory", l.CompileMemory, d.CompileMemory, c.CompileMemory, &err)
	l.Code = bounded("Code", l.Code, d.Code, c.Code, &err)
	l.Log = bounded("Log", l.Log, d.Log, c.Log, &err)
	l.Answer = bounded("Answer", l.Answer, d.Answer, c.Answer, &err)
	return l, err
}

func bounded[T int | time.Duration](name string, v, byDefault, ceiling T, err *error) T {
	switch {
	case v == 0:
		return byDefault
	case v < 0 || v > ceiling:
		*err = fmt.Errorf("limit %s: %v is not between 0 and %v", name, v, ceiling)
	}
	return v
}

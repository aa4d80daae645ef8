package dryrun

import (
	"slices"
	"time"
)

// Times are how long each step of a cycle took.
type Times struct{ Query, Encode, Run, Compute, Decode time.Duration }

// Step is a step of a cycle with its median time.
type Step struct {
	Name  string        `json:"name"`
	About string        `json:"-"`
	Time  time.Duration `json:"nanoseconds"`
}

// Medians returns the steps of a cycle in their order.
func (r *Result) Medians() []Step {
	median := func(name, about string, of func(Times) time.Duration) Step {
		var all []time.Duration
		for _, t := range r.Cycles {
			all = append(all, of(t))
		}
		slices.Sort(all)
		return Step{name, about, all[(len(all)-1)/2]}
	}
	return []Step{
		median("query", "select the tickets of the pools", func(t Times) time.Duration { return t.Query }),
		median("encode", "write the request", func(t Times) time.Duration { return t.Encode }),
		median("run", "to the sandbox, through the function, and back", func(t Times) time.Duration { return t.Run }),
		median("compute", "the function's own part of that", func(t Times) time.Duration { return t.Compute }),
		median("decode", "check the answer", func(t Times) time.Duration { return t.Decode }),
	}
}

package main

import (
	"time"
)

// use is what a process and its children use.
type use struct {
	time   time.Duration
	memory float64 // MiB now
}

// sample reads what all parts have used until now.
func (i *installation) sample() map[string]use {
	all := map[string]use{}
	parts, times := i.times()
	for n, part := range parts {
		all[part] = use{time: times[n], memory: familyMemory(i.PID(part))}
	}
	return all
}

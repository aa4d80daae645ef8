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
	for _, part := range i.Parts() {
		pid := i.PID(part)
		all[part] = use{time: familyTime(pid), memory: familyMemory(pid)}
	}
	return all
}

//go:build !linux

package main

import "time"

// familyTimes cannot be read here.
func familyTimes(pids ...int) []time.Duration { return make([]time.Duration, len(pids)) }

// familyMemory cannot be read here.
func familyMemory(int) float64 { return 0 }

// memory cannot be read here.
func memory(int) float64 { return 0 }

// familySwitches cannot be read here.
func familySwitches(int) float64 { return 0 }

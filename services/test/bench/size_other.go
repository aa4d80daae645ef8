//go:build !linux

package main

import "time"

// familyTime cannot be read here.
func familyTime(int) time.Duration { return 0 }

// familyMemory cannot be read here.
func familyMemory(int) float64 { return 0 }

// memory cannot be read here.
func memory(int) float64 { return 0 }

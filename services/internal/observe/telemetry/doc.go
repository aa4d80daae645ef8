// Package telemetry is how services observe themselves: spans, instruments, and the context of log lines.
//
//	tracer.go   how services make their spans, and what a ticket's own trace shows of its life
//	sampler.go  which of them are recorded
//	meter.go    how services make their instruments
//	labels.go   values of labels, of which there are only so many
//	logs.go     lines of the log know their trace
//	export      what a process observes itself with, by the environment
//	otlp        sends it to a collector
package telemetry

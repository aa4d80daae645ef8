//go:build !linux

package main

import "matchmaker.dev/services/internal/platform/app"

// useProcessors leaves the processors to Go's runtime.
func useProcessors() app.Part { return app.Part{Name: "processors"} }

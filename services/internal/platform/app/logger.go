package app

import (
	"fmt"
	"io"
	"log/slog"

	"matchmaker.dev/services/internal/observe/telemetry"
)

// Logger returns a logger of a level (debug, info, warn, error) that writes in a format: text, for people, or json, for
// collectors. Lines have the trace and the correlation id of their context.
func Logger(w io.Writer, level, format string) (*slog.Logger, error) {
	levels := map[string]slog.Level{"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn,
		"error": slog.LevelError}
	at, known := levels[level]
	if !known {
		return nil, fmt.Errorf("log level %q is none of debug, info, warn, error", level)
	}
	options := &slog.HandlerOptions{Level: at}
	switch format {
	case "text":
		return slog.New(telemetry.LogHandler(slog.NewTextHandler(w, options))), nil
	case "json":
		return slog.New(telemetry.LogHandler(slog.NewJSONHandler(w, options))), nil
	}
	return nil, fmt.Errorf("log format %q is none of text, json", format)
}

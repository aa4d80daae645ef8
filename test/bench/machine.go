package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"

	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/test/launch"
)

// machine is what the numbers are from.
type machine struct {
	Processors int
	Model      string `json:",omitempty"`
	MemoryMiB  int    `json:",omitempty"`
	System     string
	Go         string
	Redis      string
	NATS       string
	// Load is the load average before the first measurement.
	Load string
}

// describe reads what it can; outside of Linux that is less.
func describe(ctx context.Context) machine {
	m := machine{Processors: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		Redis: redisVersion(ctx), NATS: embedded.NATSVersion(), Load: launch.Load()}
	text, _ := os.ReadFile("/proc/cpuinfo")
	m.Model = field(string(text), "model name")
	text, _ = os.ReadFile("/proc/meminfo")
	_, _ = fmt.Sscan(field(string(text), "MemTotal"), &m.MemoryMiB)
	m.MemoryMiB /= 1 << 10
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.System += ", Linux " + strings.TrimSpace(string(text))
	}
	return m
}

// field is the value of the first line "name: value".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return ""
}

// redisVersion is the name and the version of the server that systems are started with.
func redisVersion(ctx context.Context) string {
	path := embedded.RedisBinary()
	if path == "" {
		return "no Redis"
	}
	text, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "unknown"
	}
	// Redis server v=8.0.2 sha=00000000:1 malloc=…
	words := strings.Fields(string(text))
	for _, word := range words {
		if version, found := strings.CutPrefix(word, "v="); found {
			return words[0] + " " + version
		}
	}
	return "unknown"
}

// String is one sentence.
func (m machine) String() string {
	text := fmt.Sprintf("%d processors", m.Processors)
	if m.Model != "" {
		text += " (" + m.Model + ")"
	}
	if m.MemoryMiB > 0 {
		text += fmt.Sprintf(", %.1f GiB", float64(m.MemoryMiB)/(1<<10))
	}
	return fmt.Sprintf("%s, %s, %s, %s, NATS %s, load %s", text, m.System, strings.Replace(m.Go, "go", "Go ", 1),
		m.Redis, m.NATS, m.Load)
}

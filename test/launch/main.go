package launch

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"
)

// Main is main of a program with the given commands, which end at a signal. A command has a method Run, which may take
// a context.Context and, for standard output, an io.Writer. An error is printed after the program's name, and the exit
// code is 1.
func Main(name, description string, commands any) {
	all := context.Background() //nolint:forbidigo // this is the main of a program
	ctx, stop := signal.NotifyContext(all, os.Interrupt, syscall.SIGTERM)
	defer stop()
	command := kong.Parse(commands, kong.Name(name), kong.Description(description),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.BindTo(os.Stdout, (*io.Writer)(nil)))
	if err := command.Run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Load is the machine's load average, if the system has it. Other load makes every figure worse.
func Load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 0 {
		return fields[0]
	}
	return "unknown"
}

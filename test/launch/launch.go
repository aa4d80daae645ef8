// Package launch starts servers as child processes, for programs that show or measure them from outside.
package launch

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"sync/atomic"
	"time"

	"matchmaker.dev/services/internal/platform/process"
)

const (
	startTime = time.Minute // for a server to print where it listens
	// StopTime is how long a process may take to end before it is killed.
	StopTime = time.Minute
)

// Server is a program that listens for HTTP.
type Server struct {
	*process.Process
	// URL is where it listens, http://host:port.
	URL string
}

var address = regexp.MustCompile(`http://[0-9.:\[\]]+`)

// Start starts a program and returns when it has printed its URL. Its standard error goes to errs.
func Start(ctx context.Context, errs io.Writer, binary string, args ...string) (*Server, error) {
	var url atomic.Pointer[string]
	cmd := exec.Command(binary, args...)
	cmd.Stderr = errs
	cmd.Stdout = process.Lines(func(line string) {
		if found := address.FindString(line); found != "" {
			url.CompareAndSwap(nil, &found)
		}
	})
	p, err := process.Start(cmd)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, startTime, errors.New("it did not print where it listens in time"))
	defer cancel()
	if err := p.Wait(ctx, func() bool { return url.Load() != nil }); err != nil {
		_ = p.Stop(StopTime) // err says more
		return nil, err
	}
	return &Server{p, *url.Load()}, nil
}

// Stop ends the program. It returns an error unless the program ended in good order.
func (s *Server) Stop() error { return s.Process.Stop(StopTime) }

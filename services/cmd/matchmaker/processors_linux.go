package main

import (
	"context"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"matchmaker.dev/services/internal/platform/app"
)

// lookAfter is how much processor time, without the system's, passes between two looks: an idle process does not look.
const lookAfter = 20 * time.Millisecond

// useProcessors gives the process as many processors as it needs, unless the environment says how many with GOMAXPROCS.
func useProcessors() app.Part {
	return app.Part{Name: "processors", Run: func(ctx context.Context) error {
		if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) > 1 {
			followWork(ctx)
		}
		<-ctx.Done()
		return nil
	}}
}

func followWork(ctx context.Context) {
	looks := make(chan os.Signal, 1)
	signal.Notify(looks, syscall.SIGVTALRM)
	defer signal.Stop(looks)
	every := unix.NsecToTimeval(lookAfter.Nanoseconds())
	if _, err := unix.Setitimer(unix.ItimerVirtual, unix.Itimerval{Interval: every, Value: every}); err != nil {
		return // it keeps all
	}
	defer func() { _, _ = unix.Setitimer(unix.ItimerVirtual, unix.Itimerval{}) }()
	var p processors
	for used, at := processorTime(), time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-looks:
		}
		before, last := used, at
		used, at = processorTime(), time.Now()
		switch change := p.look(used-before, at.Sub(last)); {
		case change && p.few:
			runtime.GOMAXPROCS(1)
		case change:
			runtime.SetDefaultGOMAXPROCS()
		}
	}
}

// processorTime is what this process has used, without its children.
func processorTime() time.Duration {
	var used unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

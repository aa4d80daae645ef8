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
	"matchmaker.dev/services/internal/sandbox"
)

// lookAfter is how much processor time, without the system's, passes between two looks: an idle process does not look.
const lookAfter = 20 * time.Millisecond

// timerSlack is how late the kernel may wake a thread that sleeps. A thread of Go's runtime sleeps for 20 µs again and
// again when the process does something: with Linux's 50 µs it makes three of four context switches. slackened is set
// in the environment of a process that has it.
const timerSlack, slackened = time.Millisecond, "MM_SLACKENED"

// slackenTimers executes the program once more, with timerSlack. A thread gets its slack from the thread that starts
// it, and the runtime's starts before main; all others get the usual slack again.
func slackenTimers() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	set := func(slack time.Duration) error { return unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(slack), 0, 0, 0) }
	if program, err := os.Executable(); err == nil && os.Getenv(slackened) == "" && set(timerSlack) == nil {
		_ = syscall.Exec(program, os.Args, append(os.Environ(), slackened+"=1")) //nolint:gosec // this very process
	}
	_ = set(50 * time.Microsecond)
	sandbox.StartThreads(8, func() { _ = set(50 * time.Microsecond) })
}

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

package sandbox

import (
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// awaitThreads waits until no thread is being started. On a busy machine the runtime may have decided to start one that
// the kernel does not have yet, which must not fail.
func awaitThreads() {
	for range 5000 { // where the kernel counts otherwise, there is nothing to wait for
		if existing := threads(); existing == 0 || existing >= wantedThreads() {
			return
		}
		<-time.After(100 * time.Microsecond)
	}
}

// threads is how many threads this process has, 0 where that is unknown. The ruleset allows no reading of files, but
// this.
func threads() int {
	var about unix.Stat_t
	if unix.Stat("/proc/self/task", &about) != nil {
		return 0
	}
	return int(about.Nlink) - 2 // each folder in it has a link to it, and so has its own name
}

// wantedThreads is how many threads the runtime has, those included that it is about to start. Where Go is linked with
// C, one record is for the threads of C.
func wantedThreads() int {
	n, _ := runtime.ThreadCreateProfile(nil)
	if runtime.NumCgoCall() > 0 { // which the runtime itself makes when it starts
		n--
	}
	return n
}

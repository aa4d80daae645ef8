package sandbox

import (
	"runtime"
	"sync"
)

// spareThreads is how many threads an instance has beside the one that computes. Go's runtime starts another one when a
// goroutine is ready and all threads compute or wait in system calls, and ends the process when it cannot. An instance
// computes on one thread (GOMAXPROCS), reads or writes on at most one other, and next to nothing happens beside.
const spareThreads = 4

// startThreads makes the runtime start n threads beside this one. They stay, and wait for work. No thread can be
// started any more when a module runs, so a module that takes over the process has no more of them.
func startThreads(n int) {
	var started, ended sync.WaitGroup
	release := make(chan struct{})
	started.Add(n)
	for range n {
		ended.Go(func() {
			runtime.LockOSThread() // each goroutine needs a thread of its own as long as all are locked
			started.Done()
			<-release
			runtime.UnlockOSThread() // otherwise the thread would end with the goroutine
		})
	}
	started.Wait()
	close(release)
	ended.Wait()
}

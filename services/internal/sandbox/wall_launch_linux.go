package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// launch starts a command that never has what it does not need: it has a session of its own, is killed when this
// process ends, gains no privileges from setuid binaries, has none of root's, has that nice value, and reaches
// only the files that the rules allow. exited is closed when the command has ended.
//
// A new process inherits what the thread that creates it gave up. And a child is killed when the thread that created it
// ends, not its process. So each child has a thread here, which does nothing else.
func launch(cmd *exec.Cmd, rules *ruleset, nice int, exited <-chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		setNice(nice)
		err := dropPrivileges(rules)
		if err == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			<-exited
		}
	}()
	err := <-started
	if err == nil {
		// When memory runs out, the kernel should kill a function first. To raise a score is always allowed, but not
		// possible everywhere.
		_ = os.WriteFile("/proc/"+strconv.Itoa(cmd.Process.Pid)+"/oom_score_adj", []byte("1000"), 0)
		lowerSession(cmd.Process.Pid, exited)
	}
	return err
}

// maxNice is the lowest priority that there is.
const maxNice = 19

// nicer is a nice value above this thread's.
func nicer(by int) int {
	raised, err := unix.Getpriority(unix.PRIO_PROCESS, 0) // as the kernel answers: 20 - nice, which is never negative
	if err != nil {
		return 0
	}
	return min(20-raised+by, maxNice)
}

// setNice sets the nice value of this thread and of the processes that it starts. To be nicer is always allowed; the
// inspection reports where it had no effect.
func setNice(nice int) { _ = unix.Setpriority(unix.PRIO_PROCESS, 0, nice) }

// lowerSession makes the session of a child nicer than this process's own. Where the kernel groups processes by session
// (sched_autogroup_enabled), and no control group does, each session gets an equal share of the processors, and the
// nice value of a process counts within its session alone. Compilers get what instances get: each compiles on the
// clock, and many computing instances would leave a lower one next to nothing.
//
// A process without privileges may set one such value in 100 ms, all processes of the system together. So this goes on
// in the background.
func lowerSession(pid int, exited <-chan struct{}) {
	var own int
	if about, err := os.ReadFile("/proc/self/autogroup"); err != nil {
		return // there are no such groups
	} else if _, nice, _ := strings.Cut(string(about), " nice "); nice != "" {
		own, _ = strconv.Atoi(strings.TrimSpace(nice))
	}
	// The child will soon make its files root's. An open one stays writable.
	f, err := os.OpenFile("/proc/"+strconv.Itoa(pid)+"/autogroup", os.O_WRONLY, 0)
	if err != nil {
		return // the child has ended
	}
	value := []byte(strconv.Itoa(min(own+instanceNice, maxNice)))
	go func() {
		defer f.Close()
		for {
			if _, err := f.Write(value); !errors.Is(err, unix.EAGAIN) {
				return
			}
			select {
			case <-time.After(autogroupRetry):
			case <-exited:
				return
			}
		}
	}()
}

// autogroupRetry is longer than the kernel's 100 ms, since several processes may be waiting.
const autogroupRetry = 150 * time.Millisecond

// dropPrivileges gives up what a child must not have, for this thread.
func dropPrivileges(rules *ruleset) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	if err := rules.restrict(); err != nil {
		return err
	}
	// Where this is forbidden the inspection reports it.
	if has, err := capabilities(); err == nil {
		has = allowedCapabilities(has)
		_ = unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &has[0])
	}
	return nil
}

// capabilities returns the capabilities of this thread; none unless it is root's.
func capabilities() (has [2]unix.CapUserData, err error) {
	err = unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &has[0])
	return has, err
}

// allowedCapabilities keeps one of the capabilities: to reach files in folders of other users. The ruleset decides
// which.
func allowedCapabilities(has [2]unix.CapUserData) [2]unix.CapUserData {
	const keep = 1 << unix.CAP_DAC_READ_SEARCH
	return [2]unix.CapUserData{{Effective: has[0].Effective & keep, Permitted: has[0].Permitted & keep}}
}

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// launch starts a command that never has what it does not need: it has a session of its own, is killed when this
// process ends, gains no privileges from setuid binaries, has none of root's, and reaches only the files that the rules
// allow. exited is closed when the command has ended.
//
// A new process inherits what the thread that creates it gave up. And a child is killed when the thread that created it
// ends, not its process. So each child has a thread here, which does nothing else.
func launch(cmd *exec.Cmd, rules *ruleset, exited <-chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
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
		// When memory runs out, the kernel should kill a function first. To raise a score is always allowed, but not possible
		// everywhere.
		_ = os.WriteFile("/proc/"+strconv.Itoa(cmd.Process.Pid)+"/oom_score_adj", []byte("1000"), 0)
	}
	return err
}

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

// capabilities are those of this thread, none unless it is root's.
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

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

// launch starts a command that has given up what it needs at no time: in its own session, to be
// killed with this process, without the right to gain privileges by executing a setuid binary, without those of root, and with no
// more of the file system than the rules allow. gone is closed when the command has ended.
//
// What a thread gives up for itself the processes that it creates never have, and a child is killed when the
// thread that created it ends, not its process. So each child has a thread here, which does nothing else.
func launch(cmd *exec.Cmd, rules *ruleset, gone <-chan struct{}) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
		err := surrender(rules)
		if err == nil {
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			<-gone
		}
	}()
	err := <-started
	if err == nil {
		// When memory runs out, the kernel should take a function before anything
		// else. Raising a score is always allowed, but not everywhere possible.
		_ = os.WriteFile("/proc/"+strconv.Itoa(cmd.Process.Pid)+"/oom_score_adj", []byte("1000"), 0)
	}
	return err
}

// surrender takes from this thread what a child must not have.
func surrender(rules *ruleset) error {
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	if err := rules.restrict(); err != nil {
		return err
	}
	// Where that is forbidden the inspection finds out.
	if has, err := capabilities(); err == nil {
		has = disarmed(has)
		_ = unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &has[0])
	}
	return nil
}

// capabilities are those of this thread: some if it is root's, else none.
func capabilities() (has [2]unix.CapUserData, err error) {
	err = unix.Capget(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &has[0])
	return has, err
}

// disarmed is what is left of capabilities: the one to get to a file through folders of other users. What may be
// read there is a matter of the rules.
func disarmed(has [2]unix.CapUserData) [2]unix.CapUserData {
	const left = 1 << unix.CAP_DAC_READ_SEARCH
	return [2]unix.CapUserData{{Effective: has[0].Effective & left, Permitted: has[0].Permitted & left}}
}

package embedded

import "syscall"

// bound makes the kernel kill the child when this process dies without a word.
// What Redis wrote to its append-only file until then is with the kernel.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

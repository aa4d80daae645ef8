//go:build unix && !linux

package embedded

import "syscall"

// bound cannot tie the child to this process here: after a crash it has to be
// ended by hand, and the folder's lock says so.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

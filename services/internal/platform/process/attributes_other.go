//go:build unix && !linux

package process

import "syscall"

// attributes cannot tie the child to this process here. When this process is killed, the child goes on.
func attributes(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

package main

import "syscall"

// bound makes the kernel kill a process when this one is gone, however that ended.
func bound() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

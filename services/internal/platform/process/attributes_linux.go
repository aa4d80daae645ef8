package process

import "syscall"

// attributes make the kernel send the child a signal when this process ends.
func attributes(end syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: end}
}

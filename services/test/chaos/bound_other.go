//go:build unix && !linux

package main

import "syscall"

// bound cannot tie a process to this one here: should this one be killed, its children have to be ended by hand.
func bound() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

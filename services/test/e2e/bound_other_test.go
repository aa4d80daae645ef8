//go:build !linux

package e2e

import "syscall"

// bound cannot tie a process to that of the tests here.
func bound() *syscall.SysProcAttr { return nil }

// running cannot tell which processes there are here.
func running(string) []string { return nil }

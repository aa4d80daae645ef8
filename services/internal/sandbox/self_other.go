//go:build !linux

package sandbox

import "os"

// self is this process's binary.
func self() (string, error) { return os.Executable() }

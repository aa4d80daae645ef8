//go:build !unix

package sandbox

import (
	"errors"
	"os"
)

// inherit fails: package os/exec passes descriptors on Unix only.
func inherit(int, string) (*os.File, error) { return nil, errors.ErrUnsupported }

func readFile(name string) ([]byte, error) { return os.ReadFile(name) }

// isPrivate is not known here. The folder for a user's caches is.
func isPrivate(os.FileInfo) bool { return true }

func isTooLong(error) bool { return false }

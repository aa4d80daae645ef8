//go:build !linux

package sandbox

import (
	"errors"
	"os"
)

// shared is there on Linux only.
type shared struct{ file *os.File }

func newShared(int) *shared { return nil }

func (s *shared) write(uint64, []byte, int) error { return errors.ErrUnsupported }

func (s *shared) read([]byte, uint64) error { return errors.ErrUnsupported }

func (s *shared) hold(uint64, int) ([]byte, error) { return nil, errors.ErrUnsupported }

func (s *shared) leave() {}

func (s *shared) close() {}

func (l *linear) share(int) error { return errors.ErrUnsupported }

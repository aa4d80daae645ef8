package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/platform/wait"
)

// orphanTime is how long a child of a dead process may take to follow it.
const orphanTime = 10 * time.Second

// lock makes the folder this process's own, and creates it when it is missing. Closing the file gives it back, and so
// does the death of the process. A child that inherits the file shares the lock: a folder is free when no process
// writes to it any more, not already when the parent is gone.
func lock(ctx context.Context, dir string) (*os.File, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := acquire(ctx, f, dir); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// unlock gives the folder back when no process writes to it any more. Closing the file does not: a child that another
// goroutine is starting has the file too, until it runs its program.
func unlock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

func acquire(ctx context.Context, f *os.File, dir string) error {
	ctx, cancel := context.WithTimeout(ctx, orphanTime)
	defer cancel()
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return writeOwner(f)
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock %s: %w", f.Name(), err)
		}
		owner := readOwner(f)
		if owner == 0 || alive(owner) {
			return problem.New(problem.Conflict, "folder %s is in use by process %d", dir, owner)
		}
		if err := wait.For(ctx, 20*time.Millisecond); err != nil {
			return problem.Wrap(problem.Conflict, err,
				"folder %s is still held by a child of process %d, which is gone: end it", dir, owner)
		}
	}
}

func writeOwner(f *os.File) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
	return err
}

// readOwner is the process that locked the file last, 0 while it is still signing.
func readOwner(f *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 20))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

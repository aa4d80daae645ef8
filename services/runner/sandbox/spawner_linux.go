package sandbox

import (
	"errors"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawner creates all children from one thread that does nothing else.
//
// A child is killed when the thread that created it ends, not its process, so
// that thread must live as long as the children may. And what a thread gave up
// for itself, its children never have: here the right to gain privileges by
// executing a setuid binary.
type spawner struct {
	orders chan order
	quit   chan struct{}
}

type order struct {
	cmd     *exec.Cmd
	started chan<- error
}

func newSpawner() (*spawner, error) {
	s := &spawner{orders: make(chan order), quit: make(chan struct{})}
	ready := make(chan error)
	go s.work(ready)
	return s, <-ready
}

func (s *spawner) work(ready chan<- error) {
	runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
	err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
	ready <- err
	if err != nil {
		return
	}
	for {
		select {
		case o := <-s.orders:
			o.started <- o.cmd.Start()
		case <-s.quit:
			return
		}
	}
}

// start starts a command: in its own session, to be killed with this process.
func (s *spawner) start(cmd *exec.Cmd) error {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
	started := make(chan error)
	select {
	case s.orders <- order{cmd, started}:
		return <-started
	case <-s.quit:
		return errors.New("the sandbox is closed")
	}
}

// close ends the thread, and with it every child that is left.
func (s *spawner) close() { close(s.quit) }

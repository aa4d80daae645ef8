//go:build linux && (amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
)

// In a process of its own, this test puts on the filter and tries natively what
// a guest that broke out of the engine would.
func TestFilter(t *testing.T) {
	if os.Getenv("SANDBOX_ESCAPE") != "" {
		escape()
		os.Exit(0)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^TestFilter$")
	cmd.Env = []string{"SANDBOX_ESCAPE=1", "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	if err != nil || string(out) != "works\n" {
		t.Errorf("%v:\n%s", err, out)
	}
}

// escape prints what succeeded, and whether what the runtime needs still works.
func escape() {
	parent := syscall.Getppid() // before the filter forbids to ask
	if err := filter(); err != nil {
		fmt.Println("filter:", err)
		return
	}
	attempt := func(what string, err error) {
		if err == nil {
			fmt.Println("escaped:", what)
		}
	}
	_, err := os.ReadFile("/etc/passwd")
	attempt("read a file", err)
	attempt("write a file", os.WriteFile(os.TempDir()+"/escaped", nil, 0o600))
	attempt("make a folder", os.Mkdir(os.TempDir()+"/escaped.d", 0o700))
	attempt("remove a file", os.Remove("/proc/self/nothing-there-but-EPERM-comes-first"))
	_, err = net.Dial("tcp", "127.0.0.1:1")
	attempt("dial", onlyIf(err, syscall.ECONNREFUSED))
	_, err = net.Listen("tcp", "127.0.0.1:0")
	attempt("listen", err)
	_, err = syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	attempt("socket", err)
	attempt("exec", syscall.Exec("/bin/true", []string{"true"}, nil))
	attempt("fork", fork())
	attempt("signal the parent", syscall.Kill(parent, 0))
	attempt("signal a thread of the parent", tgkill(parent))
	attempt("trace the parent", syscall.PtraceAttach(parent))
	attempt("raise a limit", syscall.Setrlimit(syscall.RLIMIT_CORE, &syscall.Rlimit{Cur: 0, Max: 0}))
	_, err = syscall.Mmap(-1, 0, page, syscall.PROT_EXEC|syscall.PROT_READ, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	attempt("map code", err)
	attempt("change the root", syscall.Chroot("/"))
	attempt("change the user", syscall.Setuid(0))

	// Threads, preemption, memory and garbage collection go on.
	done := make(chan int)
	for range 4 {
		go func() {
			runtime.LockOSThread()
			n := 0
			for range 1000 {
				n += len(make([]byte, 64*kib))
			}
			done <- n
		}()
	}
	for range 4 {
		<-done
	}
	runtime.GC()
	fmt.Println("works")
}

// onlyIf turns an error that proves success into none.
func onlyIf(err, proof error) error {
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Err != nil && fmt.Sprint(e.Err) == "connect: "+proof.Error() {
		return nil
	}
	return err
}

func fork() error {
	pid, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 { // the new process
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	return nil
}

func tgkill(pid int) error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(pid), uintptr(pid), 0); errno != 0 {
		return errno
	}
	return nil
}

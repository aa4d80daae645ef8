//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data, see seccomp(2).
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16 // low half, little-endian
	dataArg2   = 32
	dataArg3   = 40
)

// uncountedFlags are the flags of memory that RLIMIT_DATA does not count: shared memory, and stacks that grow.
const uncountedFlags = unix.MAP_SHARED | unix.MAP_GROWSDOWN

// loadingFilter allows all threads of this process what they need to load and compile a module: the system calls of
// runningFilter, files, and machine code. The ruleset decides which files.
func loadingFilter() error {
	return install(filterProgram(append(runtimeCalls(), fileCalls()...), true))
}

// runningFilter allows all threads of this process the system calls that the Go runtime needs to compute, read and
// write. All others fail with EPERM. The process has no descriptors but /dev/null and the pipes to its parent.
func runningFilter() error {
	return install(filterProgram(runtimeCalls(), false))
}

// install adds a filter to every thread of this process; later threads inherit it.
func install(program []unix.SockFilter) error {
	fprog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// The parent did so, too. Without it the kernel refuses filters.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("PR_SET_NO_NEW_PRIVS: %w", err)
	}
	r, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC,
		uintptr(unsafe.Pointer(&fprog)))
	runtime.KeepAlive(program)
	switch {
	case errno == unix.ENOSYS || errno == unix.EINVAL:
		return nil // a kernel without seccomp: the inspection reports it, see Box
	case errno != 0:
		return fmt.Errorf("seccomp: %w", errno)
	case r != 0:
		return fmt.Errorf("seccomp: thread %d keeps another filter", r)
	}
	return nil
}

// filterProgram is a classic BPF program. System calls in the numbering of another architecture end the process.
// Allowed ones pass. clone passes when it makes a thread. mmap and mprotect pass when code is true, or when they make
// nothing executable and no memory that RLIMIT_DATA does not count. tgkill passes when it is for this process. All
// others fail.
func filterProgram(allowed []uint32, code bool) []unix.SockFilter {
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	equal := func(k uint32, jt, jf uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: k, Jt: jt, Jf: jf}
	}
	set := func(k uint32, jt, jf uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JSET | unix.BPF_K, K: k, Jt: jt, Jf: jf}
	}
	end := func(action uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
	}
	const allow, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)
	p := []unix.SockFilter{
		load(dataArch), equal(auditArch(), 1, 0), end(unix.SECCOMP_RET_KILL_PROCESS),
		load(dataNumber),
		// A filter cannot see the flags of clone3. Without clone3 the C library falls back to clone.
		equal(unix.SYS_CLONE3, 0, 1), end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)),
		equal(unix.SYS_CLONE, 0, 4), load(dataArg0),
		set(unix.CLONE_THREAD, 0, 1), end(allow), end(refuse),
		// The runtime preempts its own threads by a signal.
		equal(unix.SYS_TGKILL, 0, 4), load(dataArg0), equal(uint32(os.Getpid()), 0, 1), end(allow), end(refuse),
	}
	if code {
		allowed = append(allowed, unix.SYS_MMAP, unix.SYS_MPROTECT)
	} else {
		p = append(p,
			equal(unix.SYS_MMAP, 0, 4), load(dataArg3), set(uncountedFlags, 0, 1), end(refuse),
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JA, K: 1},
			equal(unix.SYS_MPROTECT, 0, 4), load(dataArg2), set(unix.PROT_EXEC, 0, 1), end(refuse), end(allow))
	}
	for _, number := range allowed {
		p = append(p, equal(number, 0, 1), end(allow))
	}
	return append(p, end(refuse))
}

// auditArch is this processor's numbering of system calls.
func auditArch() uint32 {
	if runtime.GOARCH == "arm64" {
		return unix.AUDIT_ARCH_AARCH64
	}
	return unix.AUDIT_ARCH_X86_64
}

// fileCalls are the system calls that read and write the module's file and the folder of machine code, and those that
// install the next filter.
func fileCalls() []uint32 {
	return []uint32{
		unix.SYS_OPENAT, unix.SYS_NEWFSTATAT, unix.SYS_FSTAT, unix.SYS_LSEEK, unix.SYS_PREAD64, unix.SYS_FCNTL,
		unix.SYS_GETDENTS64, unix.SYS_MKDIRAT, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2,
		unix.SYS_FTRUNCATE, unix.SYS_FSYNC,
		unix.SYS_PRCTL, unix.SYS_SECCOMP,
	}
}

// runtimeCalls are the system calls of package runtime, and of the C library where Go is linked with it.
func runtimeCalls() []uint32 {
	return []uint32{
		// the pipes
		unix.SYS_READ, unix.SYS_WRITE, unix.SYS_WRITEV, unix.SYS_CLOSE,
		// the runtime's poller, which watches the pipes
		unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EVENTFD2,
		// memory
		unix.SYS_MUNMAP, unix.SYS_MADVISE, unix.SYS_MREMAP, unix.SYS_MINCORE, unix.SYS_BRK,
		// threads
		unix.SYS_FUTEX, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_GETTID, unix.SYS_GETPID,
		unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_SET_TID_ADDRESS, unix.SYS_MEMBARRIER,
		unix.SYS_EXIT, unix.SYS_EXIT_GROUP,
		// signals
		unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
		// time and random numbers
		unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_CLOCK_GETTIME, unix.SYS_GETTIMEOFDAY, unix.SYS_GETRANDOM,
	}
}

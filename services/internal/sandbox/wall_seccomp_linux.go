//go:build linux && (amd64 || arm64)

package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data, see seccomp(2). Arguments have 64 bits, little-endian.
const (
	dataNumber = 0
	dataArch   = 4
	dataArg0   = 16
	dataArg2   = 32
	dataArg3   = 40
	highHalf   = 4 // of an argument
)

// loadingFilter allows all threads of this process what they need to load and compile a module: the system calls of
// runningFilter, files, machine code, and threads. The ruleset decides which files.
func loadingFilter() error {
	return install(filterProgram(append(runtimeCalls(), fileCalls()...), append(loadingMemory(), threadsOnly())))
}

// runningFilter allows all threads of this process the system calls that the Go runtime needs to compute, read and
// write. All others fail with EPERM, clone too: all threads are there already. The process has no descriptors but
// /dev/null and the pipes to its parent.
func runningFilter() error {
	near, err := mappedNear()
	if err != nil {
		return err
	}
	return install(filterProgram(runtimeCalls(), runningMemory(near)))
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
		return nil // a kernel without seccomp: the inspection reports it, see Supervisor
	case errno != 0:
		return fmt.Errorf("seccomp: %w", errno)
	case r != 0:
		return fmt.Errorf("seccomp: thread %d keeps another filter", r)
	}
	return nil
}

const allow, refuse = unix.SECCOMP_RET_ALLOW, unix.SECCOMP_RET_ERRNO | uint32(unix.EPERM)

// filterProgram is a classic BPF program. System calls in the numbering of another architecture end the process.
// Allowed ones pass. Those with rules pass when these say so. tgkill passes when it is for this process. All others
// fail.
func filterProgram(allowed []uint32, rules []callRule) []unix.SockFilter {
	rules = append(rules,
		// A filter cannot see the flags of clone3. Without clone3 the C library falls back to clone.
		callRule{unix.SYS_CLONE3, []unix.SockFilter{end(unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS))}},
		// The runtime preempts its own threads by a signal.
		callRule{unix.SYS_TGKILL, []unix.SockFilter{load(dataArg0), equal(uint32(os.Getpid()), 0, 1), end(allow),
			end(refuse)}})
	p := []unix.SockFilter{
		load(dataArch), equal(auditArch(), 1, 0), end(unix.SECCOMP_RET_KILL_PROCESS),
		load(dataNumber),
	}
	for _, r := range rules {
		p = append(append(p, equal(r.number, 0, uint8(len(r.program)))), r.program...)
	}
	for _, number := range allowed {
		p = append(p, equal(number, 0, 1), end(allow))
	}
	return append(p, end(refuse))
}

// callRule is a program that decides about a system call. All its paths end.
type callRule struct {
	number  uint32
	program []unix.SockFilter
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

// jump skips jt instructions when the comparison of what was loaded with k is true, and otherwise jf.
func jump(comparison uint16, k uint32, jt, jf uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | comparison | unix.BPF_K, K: k, Jt: jt, Jf: jf}
}

func equal(k uint32, jt, jf uint8) unix.SockFilter { return jump(unix.BPF_JEQ, k, jt, jf) }

func end(action uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: action}
}

// threadsOnly allows clone to make threads, and no processes.
func threadsOnly() callRule {
	return callRule{unix.SYS_CLONE, []unix.SockFilter{load(dataArg0), jump(unix.BPF_JSET, unix.CLONE_THREAD, 0, 1),
		end(allow), end(refuse)}}
}

// loadingMemory allows all kinds of memory: machine code is mapped.
func loadingMemory() []callRule {
	all := []unix.SockFilter{end(allow)}
	return []callRule{{unix.SYS_MMAP, all}, {unix.SYS_MPROTECT, all}, {unix.SYS_MUNMAP, all}, {unix.SYS_MADVISE, all},
		{unix.SYS_MREMAP, all}}
}

// Memory that a running module's process may map: private, so that RLIMIT_DATA counts it, and nothing that is locked,
// populated, huge, droppable, or a stack that grows.
const mappingFlags = unix.MAP_PRIVATE | unix.MAP_ANONYMOUS | unix.MAP_FIXED | unix.MAP_NORESERVE

// readWrite is what accessible memory must be. Memory that can only be read is not counted by RLIMIT_DATA, and takes
// page tables when it is read.
const readWrite = unix.PROT_READ | unix.PROT_WRITE

// runningMemory allows what the Go runtime does with memory. Page tables are bounded, too: RLIMIT_AS bounds what is
// mapped, and it lies close together. So a process names addresses only near those that it has, and munmap has no
// effect, though it succeeds: otherwise single pages all over the address space would take two pages of page tables
// each.
func runningMemory(near []span) []callRule {
	inaccessibleOrReadWrite := []unix.SockFilter{load(dataArg2), equal(unix.PROT_NONE, 2, 0), equal(readWrite, 1, 0),
		end(refuse)}
	mmap := []unix.SockFilter{
		load(dataArg3), jump(unix.BPF_JSET, ^uint32(mappingFlags), 0, 1), end(refuse),
		jump(unix.BPF_JSET, unix.MAP_ANONYMOUS, 1, 0), end(refuse),
	}
	mmap = append(mmap, inaccessibleOrReadWrite...)
	mmap = append(mmap,
		load(dataArg0), equal(0, 0, 3), load(dataArg0+highHalf), equal(0, 0, 1), end(allow), // where the kernel likes
		load(dataArg0+highHalf))
	for _, s := range near {
		mmap = append(mmap, jump(unix.BPF_JGE, s.first, 0, 2), jump(unix.BPF_JGT, s.last, 1, 0), end(allow))
	}
	madvise := []unix.SockFilter{load(dataArg2)}
	for _, advice := range []uint32{unix.MADV_DONTNEED, unix.MADV_FREE, unix.MADV_HUGEPAGE, unix.MADV_NOHUGEPAGE} {
		madvise = append(madvise, equal(advice, 0, 1), end(allow))
	}
	return []callRule{
		{unix.SYS_MMAP, append(mmap, end(refuse))},
		{unix.SYS_MPROTECT, append(inaccessibleOrReadWrite[:len(inaccessibleOrReadWrite):len(inaccessibleOrReadWrite)],
			end(allow))},
		{unix.SYS_MADVISE, append(madvise, end(refuse))},
		{unix.SYS_MUNMAP, []unix.SockFilter{end(unix.SECCOMP_RET_ERRNO)}},
	}
}

// span is a part of the address space, by the high halves of addresses.
type span struct{ first, last uint32 }

// mappedNear returns where this process's mappings lie: those that the kernel placed, one beside the other, and Go's
// heap, which grows upwards.
func mappedNear() ([]span, error) {
	const page = 4096
	m, err := unix.MmapPtr(-1, 0, nil, page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, err
	}
	placed := uint32(uintptr(m) >> 32)
	if err := unix.MunmapPtr(m, page); err != nil {
		return nil, err
	}
	heap := uint32(uintptr(unsafe.Pointer(new([page]byte))) >> 32)
	const around = maxAddresses >> 32 // nothing that was or will be placed is further away
	return []span{{placed - around, placed + around}, {heap, heap + 1}}, nil
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
		unix.SYS_MINCORE, unix.SYS_BRK,
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

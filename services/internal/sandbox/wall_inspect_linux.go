package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// inspect puts up the walls as for a module, and tries each one from inside.
func (c *child) inspect(w walls) error {
	i := inspector{parent: os.Getppid(), outside: c.settings.Outside}
	i.checkInherited()
	if err := w.limitResources(c.settings); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	i.checkLimits(c.settings)
	w.startThreads(spareThreads)
	i.when = "while a module is loaded"
	if err := w.filterLoading(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	i.trySystemCalls()
	if c.settings.Shared {
		i.expectDenied("cut off the memory that its parent reads", unix.Ftruncate(memoryFD, 0))
	}
	if i.outside != "" {
		i.tryFiles()
	}
	awaitThreads()
	i.when = "while a module runs"
	if err := w.filterRunning(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	i.trySystemCalls()
	i.tryFiles()
	i.expectDenied("start a thread", startThread())
	i.tryMemory()
	return c.sendInspection(inspection{Holes: i.holes})
}

// descriptors is how many descriptors an inspection checks: as many as a process usually may have.
const descriptors = 1024

// inspector looks for holes.
type inspector struct {
	parent  int
	outside string // a folder where no child may write, if there are rules
	when    string
	holes   []string
}

func (i *inspector) addHole(format string, args ...any) {
	i.holes = append(i.holes, strings.TrimSpace(fmt.Sprintf(format, args...)+" "+i.when))
}

// expectDenied adds a hole unless an attempt failed because it is forbidden.
func (i *inspector) expectDenied(what string, err error) {
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		i.addHole("%s", what)
	}
}

// checkInherited checks for what the parent should not have passed on.
func (i *inspector) checkInherited() {
	expected := []string{"GODEBUG", "GOMAXPROCS", "GOGC", "GOMEMLIMIT"}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !slices.Contains(expected, name) {
			i.addHole("read the environment variable %s", name)
		}
	}
	for fd := range descriptors {
		if kind, is := unexpected(fd); is {
			i.addHole("use descriptor %d, of kind %#o", fd, kind)
		}
	}
	if sid, err := unix.Getsid(0); err != nil || sid != os.Getpid() {
		i.addHole("signal the session of its parent")
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || n != 1 {
		i.addHole("gain privileges by a setuid binary")
	}
	if has, err := capabilities(); err != nil || allowedCapabilities(has) != has {
		i.addHole("use the capabilities of root")
	}
}

// unexpected returns the kind of file of an open descriptor, and whether that is wrong.
func unexpected(fd int) (kind uint32, is bool) {
	var about unix.Stat_t
	if unix.Fstat(fd, &about) != nil {
		return 0, false
	}
	kind = about.Mode & unix.S_IFMT
	return kind, kind != expectedKind(fd) && (fd != memoryFD || !sealed(fd))
}

// expectedKind is the kind of file that a descriptor should have.
func expectedKind(fd int) uint32 {
	switch fd {
	case 0, 1: // /dev/null
		return unix.S_IFCHR
	case 2, requestsFD, framesFD:
		return unix.S_IFIFO
	}
	return 0 // the Go runtime's, which have no kind
}

// checkLimits checks for what the process should have given up itself.
func (i *inspector) checkLimits(s childSettings) {
	for name, limit := range map[string]struct {
		resource int
		value    uint64
	}{
		"memory": {unix.RLIMIT_DATA, uint64(s.Data)}, "descriptors": {unix.RLIMIT_NOFILE, maxFiles},
		"files": {unix.RLIMIT_FSIZE, 0}, "core dumps": {unix.RLIMIT_CORE, 0},
		"locked memory": {unix.RLIMIT_MEMLOCK, 0}, "pending signals": {unix.RLIMIT_SIGPENDING, maxPendingSignals},
		"address space": {unix.RLIMIT_AS, uint64(addressSpace(s))},
	} {
		var is unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &is); err != nil || is.Cur != limit.value || is.Max != limit.value {
			i.addHole("exceed its limit of %s", name)
		}
	}
	if nicer(0) < s.Nice {
		i.addHole("compute as urgently as its parent")
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 0 {
		i.addHole("be read by others of its user")
	}
}

// trySystemCalls makes system calls that neither a compiler nor a module needs.
func (i *inspector) trySystemCalls() {
	i.expectDenied("open a socket", socket(unix.AF_INET))
	i.expectDenied("open a local socket", socket(unix.AF_UNIX))
	i.expectDenied("execute a program", execute("/proc/self/nonexistent"))
	i.expectDenied("fork", fork())
	i.expectDenied("signal its parent", unix.Kill(i.parent, 0))
	i.expectDenied("signal a thread of its parent", unix.Tgkill(i.parent, i.parent, 0))
	i.expectDenied("trace its parent", unix.PtraceAttach(i.parent))
	i.expectDenied("change a limit", unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}))
	i.expectDenied("raise its priority", unix.Setpriority(unix.PRIO_PROCESS, 0, maxNice))
	i.expectDenied("change its user", unix.Setreuid(0, 0))
	i.expectDenied("change its root", unix.Chroot("/"))
	i.expectDenied("mount", unix.Mount("none", "/nonexistent", "none", 0, ""))
	i.expectDenied("make a namespace", unix.Unshare(unix.CLONE_NEWUSER))
	_, _, errno := unix.Syscall(unix.SYS_BPF, 0, 0, 0)
	i.expectDenied("load a program into the kernel", errnoError(errno))
}

// tryFiles tries to access files that are not the module's.
func (i *inspector) tryFiles() {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	i.expectDenied("list a folder", closeOpened(fd, err))
	fd, err = unix.Open("/proc/self/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	i.expectDenied("read a file", closeOpened(fd, err))
	if i.outside == "" {
		return
	}
	name := filepath.Join(i.outside, "inspection")
	fd, err = unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	i.expectDenied("write a file", closeOpened(fd, err))
	if err == nil {
		_ = unix.Unlink(name)
	}
}

func closeOpened(fd int, err error) error {
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// tryMemory tries to make machine code, memory that the limit does not count, and page tables without end.
func (i *inspector) tryMemory() {
	const page, private, droppable = 4096, unix.MAP_ANON | unix.MAP_PRIVATE, 0x08
	try := func(addr uintptr, prot, flags int) error {
		_, _, errno := unix.Syscall6(unix.SYS_MMAP, addr, page, uintptr(prot), uintptr(flags), ^uintptr(0), 0)
		return errnoError(errno)
	}
	for what, flags := range map[string]int{
		"map shared memory":      unix.MAP_ANON | unix.MAP_SHARED,
		"map droppable memory":   unix.MAP_ANON | droppable,
		"map locked memory":      private | unix.MAP_LOCKED,
		"map populated memory":   private | unix.MAP_POPULATE,
		"map huge pages":         private | unix.MAP_HUGETLB,
		"map a stack that grows": private | unix.MAP_GROWSDOWN,
	} {
		i.expectDenied(what, try(0, readWrite, flags))
	}
	i.expectDenied("map code", try(0, unix.PROT_READ|unix.PROT_EXEC, private))
	i.expectDenied("map memory that is not counted", try(0, unix.PROT_READ, private))
	far := (uintptr(unsafe.Pointer(i)) ^ 1<<42) &^ (page - 1)
	i.expectDenied("map memory all over the address space", try(far, readWrite, private))
	m, err := unix.Mmap(-1, 0, page, readWrite, private)
	if err != nil {
		return
	}
	i.expectDenied("make data code", unix.Mprotect(m, unix.PROT_READ|unix.PROT_EXEC))
	i.expectDenied("make memory that is not counted", unix.Mprotect(m, unix.PROT_READ))
	i.expectDenied("lock memory", unix.Mlock(m))
	i.expectDenied("populate memory", unix.Madvise(m, unix.MADV_POPULATE_READ))
	at := uintptr(unsafe.Pointer(unsafe.SliceData(m)))
	_, _, errno := unix.Syscall6(unix.SYS_MREMAP, at, 0, page, unix.MREMAP_MAYMOVE, 0, 0)
	i.expectDenied("copy mappings", errnoError(errno))
	_, _, errno = unix.Syscall(unix.SYS_MUNMAP, at, page, 0)
	if errno == 0 && unix.Mprotect(m, readWrite) != nil {
		i.addHole("unmap memory")
	}
}

// errnoError is nil when a system call succeeded.
func errnoError(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

// startThread asks for a thread as the kernel never makes one: it would have to share the handlers of signals. A filter
// decides before.
func startThread() error {
	_, _, errno := unix.RawSyscall6(unix.SYS_CLONE, unix.CLONE_VM|unix.CLONE_THREAD, 0, 0, 0, 0, 0)
	return errnoError(errno)
}

func socket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return closeOpened(fd, err)
}

func execute(name string) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), 0, 0)
	return errnoError(errno)
}

func fork() error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if pid == 0 && errno == 0 { // the new process
		_, _, _ = unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
	}
	if errno != 0 {
		return errno
	}
	_, _ = unix.Wait4(int(pid), nil, 0, nil)
	return nil
}

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

// inspect builds the walls as for a module, and tries each from inside.
func (c *child) inspect(w walls) error {
	i := inspector{parent: os.Getppid(), outside: c.settings.Outside}
	i.inherited()
	if err := w.confine(c.settings); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	i.confined(c.settings)
	i.when = "while a module is loaded"
	if err := w.loading(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	i.calls()
	if c.settings.Shared {
		i.attempt("cut off the memory that its parent reads", unix.Ftruncate(memoryFD, 0))
	}
	if i.outside != "" {
		i.files()
	}
	i.when = "while a module runs"
	if err := w.running(); err != nil {
		return fmt.Errorf("sandbox: %w", err)
	}
	i.calls()
	i.files()
	i.memory()
	return c.report(inspection{Holes: i.holes})
}

// descriptors is how many an inspection looks at: as many as a process usually may have.
const descriptors = 1024

// inspector looks for holes.
type inspector struct {
	parent  int
	outside string // a folder that no module's process may write to, if there are rules
	when    string
	holes   []string
}

func (i *inspector) hole(format string, args ...any) {
	i.holes = append(i.holes, strings.TrimSpace(fmt.Sprintf(format, args...)+" "+i.when))
}

// attempt is a hole unless the system said that it is forbidden.
func (i *inspector) attempt(what string, err error) {
	if !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.EACCES) {
		i.hole("%s", what)
	}
}

// inherited looks at what the parent should have kept to itself.
func (i *inspector) inherited() {
	expected := []string{"GODEBUG", "GOMAXPROCS", "GOGC", "GOMEMLIMIT"}
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); !slices.Contains(expected, name) {
			i.hole("read the environment variable %s", name)
		}
	}
	for fd := range descriptors {
		if kind, is := strange(fd); is {
			i.hole("use descriptor %d, of kind %#o", fd, kind)
		}
	}
	if sid, err := unix.Getsid(0); err != nil || sid != os.Getpid() {
		i.hole("signal the session of its parent")
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || n != 1 {
		i.hole("gain privileges by a setuid binary")
	}
	if has, err := capabilities(); err != nil || disarmed(has) != has {
		i.hole("use the capabilities of root")
	}
}

// strange is the kind of file that an open descriptor is, and tells whether it should not be that.
func strange(fd int) (kind uint32, is bool) {
	var about unix.Stat_t
	if unix.Fstat(fd, &about) != nil {
		return 0, false
	}
	kind = about.Mode & unix.S_IFMT
	return kind, kind != rightful(fd) && (fd != memoryFD || !sealed(fd))
}

// rightful is the kind of file that a descriptor should be.
func rightful(fd int) uint32 {
	switch fd {
	case 0, 1: // /dev/null
		return unix.S_IFCHR
	case 2, requestsFD, framesFD:
		return unix.S_IFIFO
	}
	return 0 // the Go runtime's, of no kind
}

// confined looks at what the process should have given up itself.
func (i *inspector) confined(s settings) {
	for name, limit := range map[string]struct {
		resource int
		value    uint64
	}{
		"memory": {unix.RLIMIT_DATA, uint64(s.Data)}, "descriptors": {unix.RLIMIT_NOFILE, files},
		"files": {unix.RLIMIT_FSIZE, 0}, "core dumps": {unix.RLIMIT_CORE, 0},
	} {
		var is unix.Rlimit
		if err := unix.Getrlimit(limit.resource, &is); err != nil || is.Cur != limit.value || is.Max != limit.value {
			i.hole("exceed its limit of %s", name)
		}
	}
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 0 {
		i.hole("be read by others of its user")
	}
}

// calls makes system calls that neither a compiler nor a module needs.
func (i *inspector) calls() {
	i.attempt("open a socket", socket(unix.AF_INET))
	i.attempt("open a local socket", socket(unix.AF_UNIX))
	i.attempt("execute a program", execute("/proc/self/nonexistent"))
	i.attempt("fork", fork())
	i.attempt("signal its parent", unix.Kill(i.parent, 0))
	i.attempt("signal a thread of its parent", unix.Tgkill(i.parent, i.parent, 0))
	i.attempt("trace its parent", unix.PtraceAttach(i.parent))
	i.attempt("change a limit", unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}))
	i.attempt("change its user", unix.Setreuid(0, 0))
	i.attempt("change its root", unix.Chroot("/"))
	i.attempt("mount", unix.Mount("none", "/nonexistent", "none", 0, ""))
	i.attempt("make a namespace", unix.Unshare(unix.CLONE_NEWUSER))
	i.attempt("load a program into the kernel", bpf())
}

// files tries to get at files that are not the module's.
func (i *inspector) files() {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	i.attempt("list a folder", closed(fd, err))
	fd, err = unix.Open("/proc/self/status", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	i.attempt("read a file", closed(fd, err))
	if i.outside == "" {
		return
	}
	name := filepath.Join(i.outside, "inspection")
	fd, err = unix.Open(name, unix.O_WRONLY|unix.O_CREAT|unix.O_CLOEXEC, 0o600)
	i.attempt("write a file", closed(fd, err))
	if err == nil {
		_ = unix.Unlink(name)
	}
}

func closed(fd int, err error) error {
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

// memory tries to make machine code, and memory that the limit does not count.
func (i *inspector) memory() {
	const page = 4096
	for what, flag := range map[string]int{"map shared memory": unix.MAP_SHARED, "map a stack that grows": unix.MAP_PRIVATE | unix.MAP_GROWSDOWN} {
		_, err := unix.Mmap(-1, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|flag)
		i.attempt(what, err)
	}
	_, err := unix.Mmap(-1, 0, page, unix.PROT_READ|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
	i.attempt("map code", err)
	m, err := unix.Mmap(-1, 0, page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err == nil {
		i.attempt("make data code", unix.Mprotect(m, unix.PROT_READ|unix.PROT_EXEC))
	}
}

func socket(family int) error {
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	return closed(fd, err)
}

func execute(name string) error {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return err
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(path)), 0, 0); errno != 0 {
		return errno
	}
	return nil
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

func bpf() error {
	if _, _, errno := unix.Syscall(unix.SYS_BPF, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

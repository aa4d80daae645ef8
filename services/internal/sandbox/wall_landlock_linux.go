package sandbox

import (
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ruleset lists the files that a child can reach. Landlock enforces it: a process without privileges confines itself
// and the processes that it starts. nil allows everything, where the kernel has no Landlock.
type ruleset struct {
	version int // of the kernel's interface
	rules   []rule
}

// rule allows access below a path.
type rule struct {
	path     string
	access   uint64
	optional bool // the path may be missing
}

const (
	readable = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writable = readable | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE |
		unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_DIR |
		unix.LANDLOCK_ACCESS_FS_REMOVE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR
	executable = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
)

// newRuleset allows what every child needs: to execute its binary. It is nil where the kernel has no Landlock.
func newRuleset(binary string) (*ruleset, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 || int(version) < 1 { // not built in, not enabled, or forbidden
		return nil, nil //nolint:nilnil,nilerr // nil is no rules
	}
	s := &ruleset{version: int(version), rules: []rule{{path: binary, access: executable}}}
	linked, err := dynamicallyLinked(binary)
	if err != nil {
		return nil, err
	}
	if linked {
		for _, lib := range []string{"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"} {
			s.rules = append(s.rules, rule{path: lib, access: executable | readable, optional: true})
		}
		s.rules = append(s.rules, rule{path: "/etc/ld.so.cache", access: unix.LANDLOCK_ACCESS_FS_READ_FILE, optional: true})
	}
	return s, nil
}

// dynamicallyLinked reports whether a binary needs shared libraries, as one with the race detector does.
func dynamicallyLinked(binary string) (bool, error) {
	f, err := elf.Open(binary)
	if err != nil {
		return false, err
	}
	defer f.Close()
	return slices.ContainsFunc(f.Progs, func(p *elf.Prog) bool { return p.Type == elf.PT_INTERP }), nil
}

// with allows more.
func (s *ruleset) with(more ...rule) *ruleset {
	if s == nil {
		return nil
	}
	return &ruleset{version: s.version, rules: append(more, s.rules...)}
}

// handledFiles and handledNetwork are all that the kernel's version of Landlock can forbid.
func (s *ruleset) handledFiles() uint64 {
	rights := uint64(unix.LANDLOCK_ACCESS_FS_MAKE_SYM)<<1 - 1
	for version, right := range map[int]uint64{
		2: unix.LANDLOCK_ACCESS_FS_REFER, 3: unix.LANDLOCK_ACCESS_FS_TRUNCATE, 5: unix.LANDLOCK_ACCESS_FS_IOCTL_DEV,
	} {
		if s.version >= version {
			rights |= right
		}
	}
	return rights
}

func (s *ruleset) handledNetwork() uint64 {
	if s.version < 4 {
		return 0
	}
	return unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
}

// restrict confines this thread, and the processes that it starts, for ever.
func (s *ruleset) restrict() error {
	if s == nil {
		return nil
	}
	size := unsafe.Sizeof(uint64(0))
	attr := unix.LandlockRulesetAttr{Handled_access_fs: s.handledFiles(), Handled_access_net: s.handledNetwork()}
	if attr.Handled_access_net != 0 {
		size *= 2
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	defer unix.Close(int(fd))
	for _, r := range s.rules {
		if err := s.allow(int(fd), r); err != nil {
			return fmt.Errorf("landlock: %s: %w", r.path, err)
		}
	}
	if _, _, errno = unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("landlock: %w", errno)
	}
	return nil
}

func (s *ruleset) allow(set int, r rule) error {
	fd, err := unix.Open(r.path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) && r.optional {
		return nil
	}
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	attr := unix.LandlockPathBeneathAttr{Allowed_access: r.access & s.handledFiles(), Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(set), unix.LANDLOCK_RULE_PATH_BENEATH,
		uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	return errnoError(errno)
}

//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// AttackMain is Main of a child that is taken over while its module runs: it has all its walls, and attacks instead of
// answering its first request. Its answer is what it got, as JSON.
func AttackMain(attack string) int {
	return takenOver(func(c *child) error { return c.attack(attack) })
}

func (c *child) attack(attack string) error {
	memory, err := c.wholeMemory()
	if err != nil {
		return err
	}
	if err := limitResources(c.settings); err != nil {
		return err
	}
	startThreads(spareThreads)
	if err := loadingFilter(); err != nil {
		return err
	}
	awaitThreads()
	if err := runningFilter(); err != nil {
		return err
	}
	if err := c.send(head{kind: readyFrame}, []byte("{}")); err != nil {
		return err
	}
	if _, err := readLength(c.requests); err != nil {
		return err
	}
	got := map[string]int{}
	switch attack {
	case "threads":
		const thread = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_THREAD |
			unix.CLONE_SYSVSEM
		for range 3000 {
			// Were it made, it would have no stack, and end the process.
			if _, _, errno := unix.RawSyscall6(unix.SYS_CLONE, thread, 0, 0, 0, 0, 0); errno == 0 {
				got["made"]++
			}
		}
	case "page tables":
		pageTables(got)
	case "memory twice":
		at := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
		for range 1000 {
			_, _, errno := unix.Syscall6(unix.SYS_MREMAP, at, 0, uintptr(len(memory)), unix.MREMAP_MAYMOVE, 0, 0)
			if errno == 0 {
				got["made"]++
			}
		}
	case "empty frames", "short lines", "long frames":
		body := map[string]string{"short lines": "\n", "long frames": strings.Repeat("\n", maxLogFrame)}[attack]
		for c.send(head{kind: logFrame}, []byte(body)) == nil {
			got["made"]++
		}
		return nil
	case "mutters":
		for range 100_000 {
			if _, err := unix.Write(2, make([]byte, kib)); err != nil { // not as os.File, which would end the process
				break
			}
			got["made"]++
		}
	}
	body, err := json.Marshal(got)
	if err == nil {
		err = c.send(head{kind: answerFrame}, body)
	}
	if err == nil {
		_, err = readLength(c.requests) // until it is killed
	}
	return err
}

// pageTables touches a page in each part of the address space that has a page table of its own, as far as it can: in
// memory that is only read, in memory placed far away, and in single pages that are left of large mappings.
func pageTables(got map[string]int) {
	const page, table, many = 4096, 2 * mib, 70_000
	mmap := func(addr, size uintptr, prot, flags int) (uintptr, bool) {
		m, _, errno := unix.Syscall6(unix.SYS_MMAP, addr, size, uintptr(prot),
			uintptr(flags|unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE), ^uintptr(0), 0)
		return m, errno == 0
	}
	var sink byte
	touch := func(at uintptr, write bool) {
		p := *(**byte)(unsafe.Pointer(&at))
		if write {
			*p = 1
		} else {
			sink += *p
		}
	}
	if m, ok := mmap(0, 128*gib, unix.PROT_READ, 0); ok {
		for at := m; at < m+128*gib; at += table {
			touch(at, false)
			got["read"]++
		}
	}
	for n := range uintptr(many) {
		if m, ok := mmap((n+1)*gib, page, readWrite, unix.MAP_FIXED); ok {
			touch(m, true)
			got["far"]++
		}
	}
	for range many {
		m, ok := mmap(0, gib, unix.PROT_NONE, 0)
		if !ok {
			break
		}
		if _, _, errno := unix.Syscall(unix.SYS_MPROTECT, m, page, readWrite); errno == 0 {
			touch(m, true)
			got["left"]++
		}
		_, _, _ = unix.Syscall(unix.SYS_MUNMAP, m+page, gib-page, 0)
	}
	// Near what there is, as far as allowed: in spans of 4 GiB around.
	var here byte
	stack, heap := uintptr(unsafe.Pointer(&here)), uintptr(unsafe.Pointer(new([page]byte)))
	probe, _ := mmap(0, page, readWrite, 0)
	for _, around := range []uintptr{probe, heap, stack} {
		for at := around&^(table-1) - 16*gib; at < around+16*gib; at += table {
			if m, ok := mmap(at, page, readWrite, unix.MAP_FIXED|unix.MAP_FIXED_NOREPLACE); ok {
				touch(m, true)
				got["refused flag"]++
			}
		}
	}
	// Beside the linear memory, where nothing of the runtime lies.
	for at := probe&^(table-1) - 16*gib; at < probe-8*gib; at += table {
		if m, ok := mmap(at, page, readWrite, unix.MAP_FIXED); ok {
			touch(m, true)
			got["near"]++
		}
	}
	runtime.KeepAlive(sink)
}

package launch

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc.
const tick = 10 * time.Millisecond

// Process is a process: its parent, and its processor time with its ended children's.
type Process struct {
	Parent int
	Used   time.Duration
}

// Processes are all processes. Outside of Linux there are none.
func Processes() map[int]Process {
	all := map[int]Process{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		if pid, p, ok := parseProcess(string(text)); ok {
			all[pid] = p
		}
	}
	return all
}

// Children are the child processes of a process.
func Children(pid int) (children []int) {
	for child, p := range Processes() {
		if p.Parent == pid {
			children = append(children, child)
		}
	}
	return children
}

// parseProcess reads a line "pid (name) state parent …" of 52 fields. A name may have any characters.
func parseProcess(text string) (pid int, p Process, ok bool) {
	begin, end := strings.Index(text, " ("), strings.LastIndexByte(text, ')')
	if begin < 0 || end < begin {
		return 0, p, false
	}
	pid, err := strconv.Atoi(text[:begin])
	fields := strings.Fields(text[end+1:])
	if err != nil || len(fields) < 15 {
		return 0, p, false
	}
	if p.Parent, err = strconv.Atoi(fields[1]); err != nil {
		return 0, p, false
	}
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, p, false
		}
		p.Used += time.Duration(n) * tick
	}
	return pid, p, true
}

// ours is the processor time of a process and of everything that it started.
func ours(pid int, all map[int]Process) (used time.Duration) {
	for one, p := range all {
		ancestor := one
		for range len(all) { // processes that were read at different times might make a circle
			if ancestor == pid || ancestor == 0 {
				break
			}
			ancestor = all[ancestor].Parent
		}
		if ancestor == pid {
			used += p.Used
		}
	}
	return used
}

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

// ProcessorsNow reads what all processors have done.
func ProcessorsNow() Processors {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return Processors{}
	}
	p := parseProcessors(string(text))
	p.Ours = ours(os.Getpid(), processes())
	return p
}

// parseProcessors reads the first line of /proc/stat. What interrupts take is neither ours nor others'.
func parseProcessors(text string) (p Processors) {
	line, _, _ := strings.Cut(text, "\n")
	// cpu user nice system idle iowait irq softirq steal guest guest_nice; user includes guest
	fields := strings.Fields(line)
	for i := 1; i < len(fields) && i <= 8; i++ {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return Processors{}
		}
		d := time.Duration(n) * tick
		p.All += d
		switch i {
		case 1, 2, 3:
			p.Busy += d
		case 8:
			p.Stolen = d
		}
	}
	return p
}

// proc is a process: its parent, and its processor time with its ended children's.
type proc struct {
	parent int
	used   time.Duration
}

// processes reads all processes.
func processes() map[int]proc {
	all := map[int]proc{}
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

// parseProcess reads a line "pid (name) state parent …" of 52 fields. A name may have any characters.
func parseProcess(text string) (pid int, p proc, ok bool) {
	begin, end := strings.Index(text, " ("), strings.LastIndexByte(text, ')')
	if begin < 0 || end < begin {
		return 0, p, false
	}
	pid, err := strconv.Atoi(text[:begin])
	fields := strings.Fields(text[end+1:])
	if err != nil || len(fields) < 15 {
		return 0, p, false
	}
	if p.parent, err = strconv.Atoi(fields[1]); err != nil {
		return 0, p, false
	}
	for _, field := range fields[11:15] { // utime, stime, cutime, cstime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, p, false
		}
		p.used += time.Duration(n) * tick
	}
	return pid, p, true
}

// ours is the processor time of a process and of everything that it started.
func ours(pid int, all map[int]proc) (used time.Duration) {
	for one, p := range all {
		ancestor := one
		for range len(all) { // processes that were read at different times might make a circle
			if ancestor == pid || ancestor == 0 {
				break
			}
			ancestor = all[ancestor].parent
		}
		if ancestor == pid {
			used += p.used
		}
	}
	return used
}

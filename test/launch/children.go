package launch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Children are the child processes of a process, and their names. Outside of Linux there are none.
func Children(pid int) map[int]string {
	all := map[int]string{}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, stat := range stats {
		text, err := os.ReadFile(stat)
		if err != nil {
			continue // it has ended
		}
		var child, parent int
		var state string
		// pid (name) state parent …; a name may have any characters.
		before, after, _ := strings.Cut(string(text), " (")
		end := strings.LastIndexByte(after, ')')
		if end < 0 {
			continue
		}
		name, after := after[:end], after[end+1:]
		if _, err := fmt.Sscan(before, &child); err != nil {
			continue
		}
		if _, err := fmt.Sscan(after, &state, &parent); err == nil && parent == pid {
			all[child] = name
		}
	}
	return all
}

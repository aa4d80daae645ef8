package sandbox

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// processLimit is the limit of processCount.
func processLimit(self, root string) int {
	_, limit := processCount(self, root)
	return limit
}

// processCount returns the least limit of processes and threads of the visible control groups of this process, 0 when
// there is none, and how many processes and threads the group with this limit has. Without a limit it counts the
// process's own group. self is /proc/self/cgroup, root where control groups are mounted.
func processCount(self, root string) (used, least int) {
	groups, err := os.ReadFile(self)
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3) // hierarchy, controllers, path
		if len(parts) != 3 {
			continue
		}
		var mounts []string
		switch parts[1] {
		case "": // version 2, alone or beside version 1
			mounts = []string{root, filepath.Join(root, "unified")}
		case "pids":
			mounts = []string{filepath.Join(root, "pids")}
		}
		for _, mount := range mounts {
			for group := filepath.Join("/", parts[2]); ; group = filepath.Dir(group) {
				has := readLimit(filepath.Join(mount, group, "pids.current"))
				if n := readLimit(filepath.Join(mount, group, "pids.max")); n > 0 && (least == 0 || n < least) {
					used, least = has, n
				} else if used == 0 {
					used = has
				}
				if group == "/" {
					break
				}
			}
		}
	}
	return used, least
}

// readLimit reads a number, 0 when there is none, or "max".
func readLimit(file string) int {
	text, _ := os.ReadFile(file)
	n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return n
}

package e2e

import (
	"os"
	"path/filepath"
	"strings"
)

// running lists the processes whose binary is in a folder.
func running(folder string) []string {
	binaries, _ := filepath.Glob("/proc/[0-9]*/exe") // the pattern is valid
	var found []string
	for _, link := range binaries {
		// A process that has ended has no binary.
		if binary, err := os.Readlink(link); err == nil && strings.HasPrefix(binary, folder) {
			found = append(found, link+" is "+binary)
		}
	}
	return found
}

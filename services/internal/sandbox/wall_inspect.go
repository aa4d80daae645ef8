package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"
)

// inspection is a child's report about its walls.
type inspection struct {
	// Holes are what it could do and must not, as in "open a socket while a module runs".
	Holes []string
}

// HolesError says that walls are missing that [Options.Require] wants.
type HolesError struct{ Holes []string }

func (e *HolesError) Error() string {
	return "the sandbox has holes: on this system a match function that broke out of WebAssembly could " +
		strings.Join(e.Holes, ", ")
}

// inspect lets a child, made like any other, try what its walls forbid. Version numbers do not show what a kernel, a
// container or a security module really enforces.
func (b *Supervisor) inspect(require bool) error {
	found, err := b.tryWalls()
	if errors.Is(err, fs.ErrPermission) && b.fileRules != nil {
		b.log.Warn("functions are started without rules for files: their binary cannot be executed under them", "error", err)
		b.fileRules = nil
		found, err = b.tryWalls()
	}
	if err == nil && require {
		_, inPod := os.LookupEnv("KUBERNETES_SERVICE_HOST")
		b.checkProcessLimit(processLimit("/proc/self/cgroup", "/sys/fs/cgroup"), inPod)
	}
	switch {
	case err != nil:
		return err
	case len(found.Holes) == 0:
		return nil
	case require:
		return &HolesError{found.Holes}
	}
	b.log.Warn("the sandbox has holes: on this system a match function that broke out of WebAssembly could do this; "+
		"run no functions of authors that you do not trust", "holes", found.Holes)
	return nil
}

// checkProcessLimit warns when nothing bounds the processes and threads of this process and its children together. No
// instance can start any while a module runs, but a limit around all of them is the second wall. The kubelet sets one
// for the pod as a whole, which a container does not see.
func (b *Supervisor) checkProcessLimit(limit int, inPod bool) {
	switch {
	case limit > 0:
	case inPod:
		b.log.Info("a container does not see whether the processes of its pod are limited: set podPidsLimit in the " +
			"kubelet's configuration")
	default:
		b.log.Warn("no limit of processes is set for this container or unit: set pids in Docker (pids_limit), or TasksMax "+
			"in systemd", "file", "pids.max")
	}
}

// inspectTimeout is how long a child may take to try its walls on a busy machine.
const inspectTimeout = 30 * time.Second

// tryWalls spawns a child that tries its walls.
func (b *Supervisor) tryWalls() (inspection, error) {
	s := childSettings{Inspect: true, Shared: true, Memory: page, Data: processMemory + b.limits.Memory}
	s.Nice = niceOf(s)
	if b.fileRules != nil {
		s.Outside = b.dir
	}
	var found inspection
	ctx := context.Background() //nolint:forbidigo // inspectTimeout bounds it
	body, _, err := b.runToEnd(ctx, s, inspectTimeout, "trying the walls")
	if err == nil {
		err = json.Unmarshal(body, &found)
	}
	return found, err
}

// sendInspection sends the parent what was found.
func (c *child) sendInspection(found inspection) error {
	body, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return c.send(head{kind: readyFrame}, body)
}

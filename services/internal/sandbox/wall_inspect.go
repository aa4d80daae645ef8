package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"strings"
)

// inspection is what a child found out about its own walls.
type inspection struct {
	// Holes are things that it could do and must not, as in "open a socket while a module runs".
	Holes []string
}

// HolesError says that walls are missing that [Options.Require] wants.
type HolesError struct{ Holes []string }

func (e *HolesError) Error() string {
	return "the sandbox has holes: on this system a match function that broke out of WebAssembly could " + strings.Join(e.Holes, ", ")
}

// inspect has a child that is made like any other try what its walls forbid. What a
// kernel, a container or a security module really does shows in no version number.
func (b *Box) inspect(require bool) error {
	found, err := b.tryWalls()
	if errors.Is(err, fs.ErrPermission) && b.rules != nil {
		b.log.Warn("functions are started without rules for files: their binary cannot be executed under them", "error", err)
		b.rules = nil
		found, err = b.tryWalls()
	}
	switch {
	case err != nil:
		return err
	case len(found.Holes) == 0:
		return nil
	case require:
		return &HolesError{found.Holes}
	}
	b.log.Warn("the sandbox has holes: on this system a match function that broke out of WebAssembly could do this; run none by strangers", "holes", found.Holes)
	return nil
}

func (b *Box) tryWalls() (inspection, error) {
	s := settings{Inspect: true, Shared: true, Memory: page, Data: processMemory + b.limits.Memory}
	if b.rules != nil {
		s.Outside = b.dir
	}
	p, err := b.spawn(s, func(string) {})
	if err != nil {
		return inspection{}, err
	}
	defer p.release()
	var found inspection
	err = p.within(context.Background(), b.limits.Compile, "trying the walls", func() error {
		_, body, err := p.receive(readyFrame, nil)
		if err != nil {
			return err
		}
		return json.Unmarshal(body, &found)
	})
	if err == nil {
		<-p.gone
	}
	return found, err
}

// report tells the parent what was found.
func (c *child) report(found inspection) error {
	body, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return c.send(head{kind: readyFrame}, body)
}

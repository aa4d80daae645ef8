package invocation

import (
	"context"
	"errors"
	"sync"

	"matchmaker.dev/pkg/matchfn/block"
)

// maxNamed is how many bytes of settings and names are kept of an instance. Beyond that, its function is asked again.
const maxNamed = 4 << 20

// named is the columns that a function names, by the settings of configs. It belongs to one instance, and so to one
// upload.
type named struct {
	mu    sync.Mutex
	of    map[string]block.Columns
	bytes int
}

func (n *named) find(settings []byte) (block.Columns, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c, known := n.of[string(settings)]
	return c, known
}

func (n *named) keep(settings []byte, c block.Columns) {
	n.mu.Lock()
	defer n.mu.Unlock()
	size := len(settings)
	for _, names := range [][]string{c.Attributes, c.Properties, c.PlayerAttributes, c.PlayerProperties} {
		for _, name := range names {
			size += len(name) + 16
		}
	}
	if n.bytes += size; n.bytes > maxNamed {
		clear(n.of)
		n.bytes = size
	}
	n.of[string(settings)] = c
}

// name returns the columns that the function names for the settings of the run. It asks the function once: so no run
// has fewer columns than the function reads. It fails as a run fails.
func (e *encoder) name(life context.Context) (block.Columns, error) {
	n, r := e.needs.named, e.run.Request
	if n == nil {
		return block.Columns{}, nil
	}
	if c, known := n.find(r.GetSettings()); known {
		return c, nil
	}
	limit := e.parts.deadline
	e.request.Start(block.Meta{Now: r.GetNow(), Seed: r.GetSeed(), Budget: uint32(limit.left().Milliseconds())})
	e.request.Config(r.GetSettings())
	e.request.Naming()
	request, err := e.request.Finish()
	if err != nil {
		return block.Columns{}, FunctionError{err}
	}
	lap(e.clock)
	bytes, cost, err := e.instance.Run(life, request, limit.left())
	spent(e.stats, e.clock, cost)
	if err != nil {
		return block.Columns{}, err
	}
	answer, err := e.reader.Read(bytes, 0, 0)
	if err != nil {
		return block.Columns{}, err
	}
	if answer.Failure != "" {
		return block.Columns{}, FunctionError{errors.New(answer.Failure)}
	}
	c, err := answer.Columns()
	if err != nil {
		return block.Columns{}, err
	}
	n.keep(r.GetSettings(), c)
	return c, limit.check("the function had named its columns")
}

package runner

import (
	"context"

	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/sandbox"
)

// Engine loads modules and starts instances of them, as [Processes] does.
type Engine interface {
	Open(ctx context.Context, owner, hash string) (*sandbox.Module, sandbox.Cost, error)
	Load(ctx context.Context, owner string, wasm []byte) (*sandbox.Module, sandbox.Cost, error)
	Release(m *sandbox.Module)
	Start(ctx context.Context, m *sandbox.Module, name string, log func(line string)) (Instance, error)
}

// Instance is a running instance of a function.
type Instance interface {
	invocation.Instance
	Pid() int
	// Done is closed when the instance has ended.
	Done() <-chan struct{}
	Close()
}

// Processes is the Engine whose instances are child processes.
func Processes(b *sandbox.Supervisor) Engine { return processes{b} }

type processes struct{ *sandbox.Supervisor }

// Start returns no *sandbox.Instance that is nil inside of an Instance.
func (p processes) Start(
	ctx context.Context, m *sandbox.Module, name string, log func(line string),
) (Instance, error) {
	instance, err := p.Supervisor.Start(ctx, m, name, log)
	if err != nil {
		return nil, err
	}
	return instance, nil
}

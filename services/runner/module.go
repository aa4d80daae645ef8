package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/sandbox"
)

// loadModule returns the version's module, which it holds until releaseModule.
func (v *version) loadModule(ctx context.Context) (*sandbox.Module, error) {
	v.loading.Lock()
	defer v.loading.Unlock()
	if v.module != nil {
		return v.module, nil
	}
	m, err := v.f.env.openModule(ctx, v.f.project, v.spec.GetModule())
	if err != nil {
		return nil, err
	}
	v.module = m
	return m, nil
}

// releaseModule gives the module back to the sandbox. The next loadModule opens it again.
func (v *version) releaseModule() {
	v.loading.Lock()
	defer v.loading.Unlock()
	if v.module != nil {
		v.f.env.Engine.Release(v.module)
		v.module = nil
	}
}

// openModule loads the module of a name, "<sha256>.wasm", into the sandbox: from its cache on disk, or from the object
// store. The caller has to release it. An error that only another upload mends is of the kind Invalid.
func (e *env) openModule(ctx context.Context, project, name string) (*sandbox.Module, error) {
	hash, _, _ := strings.Cut(name, ".")
	m, cost, err := e.Engine.Open(ctx, project, hash)
	e.metrics.loaded(ctx, project, cost)
	if !errors.Is(err, sandbox.ErrNotCached) {
		return m, err
	}
	wasm, err := e.Bus.Module(ctx, name)
	switch sum := sha256.Sum256(wasm); {
	case errors.Is(err, bus.ErrNoModule):
		return nil, problem.New(problem.Invalid, "its module %s is not stored any more: upload it again", name)
	case err != nil:
		return nil, fmt.Errorf("its module %s cannot be fetched: %w", name, err)
	case hex.EncodeToString(sum[:]) != hash:
		return nil, problem.New(problem.Invalid, "its module %s is damaged: what is stored has another hash", name)
	}
	m, cost, err = e.Engine.Load(ctx, project, wasm)
	e.metrics.loaded(ctx, project, cost)
	return m, err
}

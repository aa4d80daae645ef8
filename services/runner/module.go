package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/problem"
	"matchmaker.dev/services/internal/sandbox"
)

// module brings the module of a name, "<sha256>.wasm", into the sandbox: from the disk, if it is there from before, else from
// the object store. Who gets it has to release it to the sandbox. Where only another upload helps the error is of the kind Invalid.
func (e *env) module(ctx context.Context, name string) (*sandbox.Module, error) {
	hash, _, _ := strings.Cut(name, ".")
	m, err := e.Box.Open(ctx, hash)
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
	return e.Box.Load(ctx, wasm)
}

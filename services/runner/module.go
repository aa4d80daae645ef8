package runner

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"matchmaker.dev/services/runner/sandbox"
)

// module brings the module of a name, "<sha256>.wasm", into the sandbox: from the disk, if it is there from before, else from
// the object store. Who gets it has to release it to the sandbox.
func (e *env) module(ctx context.Context, name string) (*sandbox.Module, error) {
	hash, _, _ := strings.Cut(name, ".")
	m, err := e.Box.Open(ctx, hash)
	if !errors.Is(err, sandbox.ErrNotKept) {
		return m, err
	}
	wasm, err := e.Bus.Module(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("its module %s cannot be fetched: %w", name, err)
	}
	if sum := sha256.Sum256(wasm); hex.EncodeToString(sum[:]) != hash {
		return nil, fmt.Errorf("its module %s is damaged: what is stored has another hash", name)
	}
	return e.Box.Load(ctx, wasm)
}

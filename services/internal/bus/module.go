package bus

import (
	"context"
	"encoding/base64"
	"errors"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// PutModule stores a module under its name, which tells its contents: a name that is there needs no second copy.
func (b *Bus) PutModule(ctx context.Context, name string, module []byte) error {
	store, err := b.js.ObjectStore(ctx, moduleStore)
	if err != nil {
		return unavailable(err)
	}
	if _, err := store.GetInfo(ctx, name); err == nil {
		return nil
	}
	_, err = store.PutBytes(ctx, name, module)
	return unavailable(err)
}

// ErrNoModule says that the object store has no module of a name.
var ErrNoModule = errors.New("bus: no such module")

// Module reads a module; ErrNoModule when there is none.
func (b *Bus) Module(ctx context.Context, name string) ([]byte, error) {
	store, err := b.js.ObjectStore(ctx, moduleStore)
	if err != nil {
		return nil, unavailable(err)
	}
	module, err := store.GetBytes(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, ErrNoModule
	}
	return module, unavailable(err)
}

// listTimeout is how long the object store may take to list its modules. It may wait for ever for one that was removed
// meanwhile.
const listTimeout = 30 * time.Second

// Modules returns the names of all modules in the object store.
func (b *Bus) Modules(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	store, err := b.js.ObjectStore(ctx, moduleStore)
	if err != nil {
		return nil, unavailable(err)
	}
	all, err := store.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	names := make([]string, 0, len(all))
	for _, module := range all {
		names = append(names, module.Name)
	}
	return names, nil
}

// DeleteModule removes a module; there may be none.
func (b *Bus) DeleteModule(ctx context.Context, name string) error {
	store, err := b.js.ObjectStore(ctx, moduleStore)
	if err != nil {
		return unavailable(err)
	}
	if err := store.Delete(ctx, name); err != nil && !errors.Is(err, jetstream.ErrObjectNotFound) {
		return unavailable(err)
	}
	// The store keeps a mark that there was such a name, for ever. None comes back, so that they would only become more.
	stream, err := b.js.Stream(ctx, moduleStream)
	if err != nil {
		return unavailable(err)
	}
	mark := moduleInfos + base64.URLEncoding.EncodeToString([]byte(name))
	return unavailable(stream.Purge(ctx, jetstream.WithPurgeSubject(mark)))
}

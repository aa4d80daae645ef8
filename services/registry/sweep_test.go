package registry

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

func (b *bench) sweeper(grace time.Duration) *sweeper {
	return &sweeper{store: b.store, bus: b.bus, now: b.clock.now, grace: grace, unused: map[string]time.Time{}}
}

func TestUnusedModulesAreRemoved(t *testing.T) {
	b := start(t, func(o *Options) { o.Settings.Versions = 2 })
	stored := func(want ...string) {
		t.Helper()
		got, err := b.bus.Modules(t.Context())
		must(t, err)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("stored are %v, want %v", got, want)
		}
	}
	s := b.sweeper(time.Hour)
	sweep := func(want int) {
		t.Helper()
		removed, err := s.sweep(t.Context())
		must(t, err)
		if removed != want {
			t.Errorf("removed %d, want %d", removed, want)
		}
	}
	sweep(0) // nothing there at all

	var modules []string
	for n := range 3 {
		b.upload(t, "duel", n)
		modules = append(modules, b.record(t).GetModule())
	}
	// An upload that stored its module, and has not written its record yet.
	must(t, b.bus.PutModule(t.Context(), "upload.wasm", []byte("module")))
	stored(append(modules, "upload.wasm")...)
	sweep(0) // from here on two are known to be unused
	b.clock.advance(59 * time.Minute)
	sweep(0)
	// The record is written, and the module that the other version has runs again.
	wants[function](t, b.rollback(t, "duel", `{"version":2}`), http.StatusOK)
	must(t, b.store.ChangeFunction(t.Context(), "demo", "other", func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: "other", Module: "upload.wasm"}, nil
	}))
	b.clock.advance(time.Minute)
	sweep(1)
	stored(modules[1], modules[2], "upload.wasm")

	// With the function go all its modules, an hour later.
	for _, name := range []string{"duel", "other"} {
		if a := b.do(t, http.MethodDelete, "/functions/"+name, nil); a.status != http.StatusNoContent {
			t.Fatalf("delete: %d", a.status)
		}
	}
	sweep(0)
	b.clock.advance(59 * time.Minute)
	sweep(0)
	stored(modules[1], modules[2], "upload.wasm")
	b.clock.advance(time.Minute)
	// Another replica that has just begun knows nothing yet.
	if removed, err := b.sweeper(time.Hour).sweep(t.Context()); err != nil || removed != 0 {
		t.Errorf("a new replica removed %d, error %v", removed, err)
	}
	sweep(3)
	stored()
	sweep(0)
}

// What functions there are cannot be read: then every module may be one's.
func TestNothingIsRemovedInTheDark(t *testing.T) {
	b := start(t, nil)
	must(t, b.bus.PutModule(t.Context(), "m.wasm", []byte("module")))
	s := b.sweeper(time.Minute)
	if _, err := s.sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.clock.advance(time.Hour)
	must(t, b.store.Close())
	if removed, err := s.sweep(t.Context()); err == nil || removed != 0 {
		t.Errorf("removed %d, error %v", removed, err)
	}
	if _, err := b.bus.Module(t.Context(), "m.wasm"); err != nil {
		t.Error(err)
	}
}

// The service does so by itself.
func TestRegistrySweeps(t *testing.T) {
	b := start(t, func(o *Options) { o.Settings.ModuleGrace = 50 * time.Millisecond })
	b.upload(t, "duel", 1)
	used := b.record(t).GetModule()
	must(t, b.bus.PutModule(t.Context(), "unused.wasm", []byte("module")))
	eventually(t, "removed", func() error {
		b.clock.advance(time.Minute)
		names, err := b.bus.Modules(t.Context()) // fails when one is removed meanwhile
		if err != nil || !slices.Equal(names, []string{used}) {
			return fmt.Errorf("stored are still %v, %w", names, err)
		}
		return nil
	})
}

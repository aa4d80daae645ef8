package main

import (
	"log/slog"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/internal/sandbox/sandboxtest"
)

// The functions that name as much as may be allowed read requests of any size, and propose nothing.
func TestManifestsOfManyNames(t *testing.T) {
	child, err := sandboxtest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.New(sandbox.Options{Dir: t.TempDir(), Binary: child, Log: slog.New(slog.DiscardHandler),
		Limits: sandbox.Limits{Run: time.Minute}})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	made := newArsenal(t.TempDir())
	for n, wasm := range made.attributes {
		m, _, err := box.Load(t.Context(), "", wasm)
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Manifest.Attributes) != n || len(m.Manifest.Properties) != 0 {
			t.Errorf("it names %d attributes and %d properties", len(m.Manifest.Attributes), len(m.Manifest.Properties))
		}
		i, err := box.Start(t.Context(), m, "named", func(string) {})
		if err != nil {
			t.Fatal(err)
		}
		for _, tickets := range []int{0, 2_000_000, 10} {
			var b block.RequestBuilder
			b.Start(block.Meta{Tickets: tickets})
			request, err := b.Finish()
			if err != nil {
				t.Fatal(err)
			}
			answer, _, err := i.Run(t.Context(), request, 0)
			if err != nil {
				t.Fatal(err)
			}
			if a, err := block.ParseAnswer(answer, tickets, 0); err != nil || a.Len() != 0 || a.Failure != "" {
				t.Errorf("%+v, %v", a, err)
			}
		}
		i.Close()
	}
}

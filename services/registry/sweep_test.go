package registry

import (
	"bufio"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
)

func (b *bench) sweeper(grace time.Duration) *sweeper {
	return newSweeper(b.store, b.bus, slog.New(slog.NewTextHandler(&b.log, nil)), grace)
}

func TestUnusedModulesAreRemoved(t *testing.T) {
	t.Parallel()
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
	// An upload that has not stored its module yet, one that has not written its record yet, and one that never will.
	must(t, b.store.NoteModule(t.Context(), "demo", "early.wasm"))
	for _, name := range []string{"upload.wasm", "dead.wasm"} {
		must(t, b.store.NoteModule(t.Context(), "demo", name))
		must(t, b.bus.PutModule(t.Context(), name, []byte("module")))
	}
	stored(append(modules, "upload.wasm", "dead.wasm")...)
	sweep(0)
	b.clock.advance(60 * time.Minute)
	sweep(0)
	// The record is written, and the module that the other version has runs again.
	wants[response.Function](t, b.rollback(t, "duel", `{"version":2}`), http.StatusOK)
	must(t, b.store.ChangeFunction(t.Context(), "demo", "other", func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: "other", Module: "upload.wasm"}, nil
	}))
	b.clock.advance(time.Minute)
	sweep(3) // early.wasm is none
	stored(modules[1], modules[2], "upload.wasm")
	err := b.store.ChangeFunction(t.Context(), "demo", "late", func(*pb.Function) (*pb.Function, error) {
		return &pb.Function{Name: "late", Module: "dead.wasm"}, nil
	})
	if problem.KindOf(err) != problem.Unavailable {
		t.Errorf("an upload that takes longer than the sweep waits: %v", err)
	}

	// With the function go all its modules, an hour later.
	for _, name := range []string{"duel", "other"} {
		if a := b.do(t, http.MethodDelete, "/functions/"+name, nil); a.status != http.StatusNoContent {
			t.Fatalf("delete: %d", a.status)
		}
	}
	sweep(0)
	b.clock.advance(60 * time.Minute)
	sweep(0)
	stored(modules[1], modules[2], "upload.wasm")
	b.clock.advance(time.Minute)
	sweep(3)
	stored()
	sweep(0)
	if b.log.Len() > 0 {
		t.Errorf("logged: %s", b.log.String())
	}
}

// command has Redis do something.
func (b *bench) command(t *testing.T, line string) {
	t.Helper()
	server, err := url.Parse(b.redis)
	must(t, err)
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", server.Host)
	must(t, err)
	defer conn.Close()
	must(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = fmt.Fprintf(conn, "SELECT %s\r\n%s\r\n", strings.TrimPrefix(server.Path, "/"), line)
	must(t, err)
	in := bufio.NewReader(conn)
	_, err = in.ReadString('\n')
	must(t, err)
	answer, err := in.ReadString('\n')
	must(t, err)
	if answer != "+OK\r\n" && answer != ":1\r\n" {
		t.Fatalf("%s: %q", line, answer)
	}
}

// What Redis lost, or cannot be asked for, proves nothing.
func TestNothingIsRemovedWithoutProof(t *testing.T) {
	for name, lose := range map[string]func(t *testing.T, b *bench){
		"all":      func(t *testing.T, b *bench) { b.command(t, "FLUSHDB") },
		"projects": func(t *testing.T, b *bench) { b.command(t, "DEL mm:projects") },
		"project":  func(t *testing.T, b *bench) { b.command(t, "DEL mm:{demo}:functions") },
		"closed":   func(t *testing.T, b *bench) { must(t, b.store.Close()) },
		// The function was deleted after the backup was made.
		"restored": func(t *testing.T, b *bench) {
			b.command(t, "COPY mm:{demo}:functions mm:{demo}:backup")
			b.do(t, http.MethodDelete, "/functions/duel", nil)
			b.command(t, "RENAME mm:{demo}:backup mm:{demo}:functions")
			b.command(t, "DEL mm:{demo}:unused")
		},
		// A version that does not know the list went back to a module.
		"mixed": func(t *testing.T, b *bench) {
			b.command(t, "COPY mm:{demo}:functions mm:{demo}:backup")
			b.do(t, http.MethodDelete, "/functions/duel", nil)
			b.command(t, "RENAME mm:{demo}:backup mm:{demo}:functions")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, nil)
			b.upload(t, "duel", 1)
			module := b.record(t).GetModule()
			s := b.sweeper(time.Minute)
			for range 3 {
				if removed, err := s.sweep(t.Context()); err != nil || removed != 0 {
					t.Errorf("removed %d, %v", removed, err)
				}
				b.clock.advance(time.Hour)
			}
			lose(t, b)
			for range 3 {
				b.clock.advance(time.Hour)
				removed, err := s.sweep(t.Context())
				if removed != 0 || (err != nil) != (name == "closed") {
					t.Errorf("removed %d, %v", removed, err)
				}
			}
			if _, err := b.bus.Module(t.Context(), module); err != nil {
				t.Error(err)
			}
			want := map[string]string{"all": "no list of unused ones", "projects": "no list of unused ones",
				"project": "no list of unused ones", "mixed": "that a function names"}[name]
			if got := b.log.String(); !strings.Contains(got, want) || (got == "") != (want == "") ||
				strings.Count(got, "\n") > 1 {
				t.Errorf("logged %q, want %q", got, want)
			}
		})
	}
}

// The service does so by itself.
func TestRegistrySweeps(t *testing.T) {
	t.Parallel()
	b := start(t, func(o *Options) { o.Settings.ModuleGrace = 50 * time.Millisecond })
	b.upload(t, "duel", 1)
	used := b.record(t).GetModule()
	must(t, b.store.NoteModule(t.Context(), "demo", "unused.wasm"))
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

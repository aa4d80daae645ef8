package main

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/embedded/embeddedtest"
	"matchmaker.dev/services/internal/state"
)

func TestProjectsAreListedAndDeleted(t *testing.T) {
	log := slog.New(slog.DiscardHandler)
	redis, err := embedded.StartRedis(t.Context(), embedded.RedisOptions{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	url := embeddedtest.Patient(redis.URL())
	nats, err := embedded.StartNATS(t.Context(), embedded.NATSOptions{Dir: t.TempDir(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer nats.Close()
	store, err := state.Open(state.Options{Server: state.Server{URL: url}, History: 100, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	b, err := bus.Connect(t.Context(), bus.Options{Server: bus.Server{URL: nats.URL()}, Log: log,
		Wait: embeddedtest.Patience})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close(t.Context())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	embeddedtest.Prepare(t, b)
	fill := func(project string) {
		t.Helper()
		_, _, err := store.PutConfig(t.Context(), project, &pb.Config{Id: "c", Function: "f"}, state.AnyRevision)
		must(err)
		module := project + ".wasm"
		must(store.NoteModule(t.Context(), project, module))
		must(b.PutModule(t.Context(), module, []byte("module")))
		must(store.ChangeFunction(t.Context(), project, "f", func(*pb.Function) (*pb.Function, error) {
			return &pb.Function{Name: "f", Module: module}, nil
		}))
		must(store.Creator(nil).Create(t.Context(), project, &pb.Ticket{Id: "t-" + project, Created: 1}))
		must(b.PublishLog(t.Context(), project, "f", &pb.LogLines{Text: "line\n"}))
		_, _, err = b.PublishEvents(t.Context(), &pb.Events{Project: project, Events: []*pb.Event{{}}}, bus.EventTail{})
		must(err)
	}
	logged := func(project string) (lines int) {
		t.Helper()
		_, err := b.ReadLog(t.Context(), project, "f", bus.LogStart{Since: time.Unix(0, 0)}, func(*pb.LogLines) bool {
			lines++
			return true
		})
		must(err)
		return lines
	}
	left := func(want ...string) {
		t.Helper()
		projects, err := store.Projects(t.Context())
		must(err)
		slices.Sort(projects)
		if !slices.Equal(projects, want) {
			t.Errorf("listed are %v, want %v", projects, want)
		}
		modules, err := b.Modules(t.Context())
		must(err)
		slices.Sort(modules)
		if strings.Join(modules, " ") != strings.Join(want, ".wasm ")+".wasm" {
			t.Errorf("modules %v of %v", modules, want)
		}
		for _, project := range []string{"one", "two"} {
			last, _, err := b.LastEvents(t.Context(), project)
			must(err)
			events := last != nil
			_, err = store.Ticket(t.Context(), project, "t-"+project)
			there := slices.Contains(want, project)
			if events != there || (logged(project) == 1) != there || (err == nil) != there {
				t.Errorf("%s: events %v, %d lines, ticket: %v, want %v", project, events, logged(project), err, there)
			}
		}
	}
	run := func(want int, says string, args ...string) {
		t.Helper()
		args = append([]string{"project"}, append(args, "--redis", url)...)
		if args[1] == "delete" {
			args = append(args, "--nats", nats.URL(), "--settle", "10ms")
		}
		code, stdout, stderr := matchmaker(t, args...)
		if code != want || !strings.Contains(stdout+stderr, says) {
			t.Errorf("%v: exit code %d, want %d\n%s%s\nwant %q", args, code, want, stdout, stderr, says)
		}
	}
	fill("one")
	fill("two")
	run(exitOK, "one      1        1          1        0        0        0", "list")
	run(exitOK, "configs 1, functions 1, unused modules 0, waiting tickets 1", "delete", "one")
	left("one", "two")

	_, err = store.CreateBackfill(t.Context(), "one", &pb.Backfill{Id: "b"})
	must(err)
	run(exitFailure, "games run", "delete", "one", "--yes")
	left("one", "two")
	// A director leads it, and an upload that was interrupted left a module.
	_, err = store.AcquireLease(t.Context(), "one", "director", time.Minute)
	must(err)
	must(store.NoteModule(t.Context(), "one", "dead.wasm"))
	must(b.PutModule(t.Context(), "dead.wasm", []byte("module")))
	run(exitOK, "keys were deleted", "delete", "one", "--yes", "--force")
	left("two")
	run(exitOK, "0 keys were deleted", "delete", "one", "--yes")
	run(exitOK, "it is not listed", "delete", "one")
	left("two")
	run(exitUsage, "no project has a name", "delete", "a}b")

	// It may come back.
	fill("one")
	left("one", "two")
}

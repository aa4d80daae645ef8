package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/platform/embedded"
	"matchmaker.dev/services/internal/platform/keyring"
	"matchmaker.dev/services/internal/state"
)

func TestReseal(t *testing.T) {
	redis, err := embedded.StartMemory(0, "")
	if err != nil {
		t.Fatal(err)
	}
	defer redis.Close()
	store, err := state.Open(state.Options{Server: state.Server{URL: redis.URL()}, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	path := filepath.Join(t.TempDir(), "keys")
	if code, stdout, stderr := matchmaker(t, "keys", "hosting", path); code != exitOK ||
		!strings.Contains(stdout, "encrypts from now on") {
		t.Fatal(code, stdout, stderr)
	}
	ring, err := keyring.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	put := func(project, id string, keys []byte) {
		t.Helper()
		c := &pb.Config{Id: id, Function: "f", Hosting: &pb.Hosting{Keys: keys}}
		if _, _, err := store.PutConfig(t.Context(), project, c, state.AnyRevision); err != nil {
			t.Fatal(err)
		}
	}
	for _, project := range []string{"p", "q"} {
		for i := range 3 {
			id := fmt.Sprint("c", i)
			sealed, err := ring.SealHosting(project, id, &pb.HostingKeys{Access: "AK", Secret: "hunter2"})
			if err != nil {
				t.Fatal(err)
			}
			put(project, id, sealed)
		}
	}
	// What a config was before, and one that was deleted, have keys too.
	before, err := ring.SealHosting("p", "c0", &pb.HostingKeys{Access: "AK", Secret: "hunter1"})
	if err != nil {
		t.Fatal(err)
	}
	now, err := store.Config(t.Context(), "p", "c0")
	if err != nil {
		t.Fatal(err)
	}
	put("p", "c0", before)
	put("p", "c0", now.GetHosting().GetKeys())
	if _, err := store.DeleteConfig(t.Context(), "p", "c1", state.AnyRevision, "ida"); err != nil {
		t.Fatal(err)
	}
	put("p", "none", nil)
	put("p", "strange", []byte("\x01\x01?..............................."))
	if code, _, stderr := matchmaker(t, "keys", "hosting", path); code != exitOK {
		t.Fatal(stderr)
	}
	// The old key goes once everything is encrypted with the new one.
	for _, want := range []string{"encrypted again: 8\n", "encrypted again: 0\n"} {
		code, stdout, stderr := matchmaker(t, "keys", "reseal", "--redis", redis.URL(), "--hosting-keys", path)
		if code != exitFailure || !strings.Contains(stdout, want) ||
			!strings.Contains(stderr, `project p: hosting keys of config "strange": key ?:`) {
			t.Errorf("exit code %d: %s %s, want %s", code, stdout, stderr, want)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first, _, _ := strings.Cut(string(text), "\n")
	if err := os.WriteFile(path, []byte(first), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh, err := keyring.Open(path, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(project string, c *pb.Config, secret string) {
		t.Helper()
		keys, err := fresh.OpenHosting(project, c.GetId(), c.GetHosting())
		if err != nil || keys.GetSecret() != secret || c.GetFunction() != "f" {
			t.Errorf("%s of %s: %v, %v", c.GetId(), project, keys, err)
		}
	}
	for _, project := range []string{"p", "q"} {
		for i := range 3 {
			id := fmt.Sprint("c", i)
			history, err := store.ConfigHistory(t.Context(), project, id)
			if err != nil {
				t.Fatal(err)
			}
			for n, change := range history {
				switch {
				case change.Deleted:
				case project == "p" && id == "c0" && n == 1:
					expect(project, change.Config, "hunter1")
				default:
					expect(project, change.Config, "hunter2")
				}
			}
		}
	}
	if code, _, stderr := matchmaker(t, "keys", "reseal"); code != exitUsage ||
		!strings.Contains(stderr, "--hosting-keys") {
		t.Error(code, stderr)
	}
	issuers := write(t, "- {issuer: me, jwks: nowhere.json, audiences: [m], kinds: [developer], projects: [p]}")
	if code, _, stderr := matchmaker(t, "config", "--issuers", issuers, "--hosting-keys", "/none"); code != exitFailure ||
		!strings.Contains(stderr, "--hosting-keys") {
		t.Error(code, stderr)
	}
}

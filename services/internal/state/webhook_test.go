package state_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
)

func TestWebhooks(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		put := func(names ...string) {
			t.Helper()
			p := new(pb.ProjectSettings)
			for _, name := range names {
				p.Webhooks = append(p.Webhooks, &pb.Webhook{Name: name})
			}
			must(t, s.PutSettings(t.Context(), project, p, state.AnyRevision))
		}
		note := func(at int, owner string, hold time.Duration, want bool, notes ...state.WebhookNote) {
			t.Helper()
			held, err := s.At(time.UnixMilli(epoch0.UnixMilli()+int64(at)*1000)).NoteWebhooks(t.Context(), project, owner, hold,
				notes...)
			if must(t, err); held != want {
				t.Errorf("%s holds the lease: %v", owner, held)
			}
		}
		kept := func(want map[string]state.WebhookState) {
			t.Helper()
			got, err := s.Webhooks(t.Context(), project)
			must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		}
		with := func(want int) {
			t.Helper()
			if all, err := s.WebhookProjects(t.Context(), []string{"none", project}); err != nil || len(all) != want {
				t.Errorf("projects with webhooks: %q, %v", all, err)
			}
		}
		put()
		with(0)
		note(0, "a", 10*time.Second, false)
		put("one", "two")
		with(1)
		const begin = "@1700000000000"
		kept(map[string]state.WebhookState{"one": {Place: begin}, "two": {Place: begin}})

		// Only the owner of the lease notes anything, and only of webhooks that there are.
		letters := []state.DeadLetter{{ID: "1", Text: `{"x":"ada"}`}, {ID: "2", Text: `{"x":["t-1"]}`}, {ID: "3", Text: `"adam"`}}
		note(0, "a", 10*time.Second, true)
		note(5, "b", 10*time.Second, false, state.WebhookNote{Name: "one", Place: "9.9"})
		note(9, "a", 10*time.Second, true, state.WebhookNote{Name: "one", Place: "1.2", Status: "s", Letters: letters},
			state.WebhookNote{Name: "gone", Place: "1.2"})
		note(20, "b", 10*time.Second, true)
		note(21, "a", 0, false, state.WebhookNote{Name: "one", Place: "9.9"})
		note(22, "b", 0, true, state.WebhookNote{Name: "two", Place: "3.0"})
		note(22, "a", 10*time.Second, true)
		kept(map[string]state.WebhookState{"one": {Place: "1.2", Status: "s", Letters: letters}, "two": {Place: "3.0"}})

		if n, err := s.ForgetInDeadLetters(t.Context(), project, "ada", []string{"t-1"}); err != nil || n != 2 {
			t.Errorf("%d forgotten, %v", n, err)
		}
		if text, err := s.DeadLetter(t.Context(), project, "one", "3"); err != nil || text != `"adam"` {
			t.Errorf("%q, %v", text, err)
		}
		if there, err := s.DeleteDeadLetter(t.Context(), project, "one", "1"); err != nil || there {
			t.Errorf("deleted twice: %v", err)
		}
		// What belongs to a webhook goes with it.
		put("two")
		kept(map[string]state.WebhookState{"two": {Place: "3.0"}})
		put()
		with(0)
		kept(map[string]state.WebhookState{})
	})
}

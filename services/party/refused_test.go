package party_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/party"
)

// asked lets a match ask the players of a ticket.
func (w *world) asked(ticket string) {
	w.t.Helper()
	config := &pb.Config{Id: "asks", Function: "duel"}
	revision, _, err := w.store.PutConfig(w.t.Context(), "demo", config, state.AnyRevision)
	must(w.t, err)
	epoch, err := w.store.AcquireLease(w.t.Context(), "demo", "director", time.Minute)
	must(w.t, err)
	claim := &state.Claim{Tickets: []string{ticket}, Match: &pb.Match{Id: "m", Config: "asks", Revision: revision,
		Acceptance: 60_000, Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: []string{ticket}}}}}}
	_, err = w.store.Claim(w.t.Context(), "demo", state.ClaimOptions{Epoch: epoch, Claim: time.Minute},
		[]*state.Claim{claim})
	if must(w.t, err); claim.Refusal != "" {
		w.t.Fatalf("the claim was refused: %s", claim.Refusal)
	}
}

// A refused join changes nothing: neither while the party searches, nor while a match asks it.
func TestRefusedJoinLeavesTheSearch(t *testing.T) {
	w := start(t, func(s *party.Settings) { s.JoinRate = 0 })
	must(t, w.store.PutSettings(t.Context(), "demo", &pb.ProjectSettings{
		Acceptance: &pb.AcceptanceRules{FirstPause: 30_000, LongestPause: 120_000},
	}, state.AnyRevision))
	w.party("eve")
	blob := base64.StdEncoding.EncodeToString(make([]byte, 20<<10))
	p := w.do("ada", "POST", "", `{"size":3,"properties":{"save":"`+blob+`"}}`)
	w.do("bob", "POST", "/members", `{"code":"`+p.Code+`","properties":{"save":"`+blob+`"}}`)
	p = w.do("ada", "PUT", "/"+p.ID+"/search", `{}`)
	refused := func(phase, player, properties, want string) {
		t.Helper()
		status, answer := w.as(player, "POST", "/members", `{"code":"`+p.Code+`"`+properties+`}`)
		if answer.Code != want {
			t.Errorf("%s: %s joins: %d %s, want %s", phase, player, status, answer.Detail, want)
		}
		now := w.do("ada", "GET", "/"+p.ID, "")
		if now.Search == nil || now.Search.Ticket != p.Search.Ticket || now.players() != "ada bob" || now.Code != p.Code {
			t.Fatalf("%s: %s was refused, and the party is %+v", phase, player, now)
		}
		ticket, err := w.store.Ticket(t.Context(), "demo", p.Search.Ticket)
		if err != nil || phase == "asked" && ticket.Acceptance == nil {
			t.Fatalf("%s: %s was refused, and the ticket is %+v, %v", phase, player, ticket, err)
		}
	}
	large := `,"properties":{"save":"` + blob + `"}`
	refused("searching", "eve", "", "alreadyInParty")
	refused("searching", "zoe", large, "invalid")
	w.asked(p.Search.Ticket)
	refused("asked", "eve", "", "alreadyInParty")
	refused("asked", "zoe", large, "invalid")
	// Nor does a stranger decline the match.
	refused("asked", "zoe", "", "acceptanceOpen")
	for _, player := range []string{"eve", "zoe"} {
		if pause, err := w.store.PauseOf(t.Context(), "demo", player); err != nil || pause.Count != 0 {
			t.Errorf("%s pauses: %+v, %v", player, pause, err)
		}
	}
	// A member that leaves declines it.
	w.do("bob", "DELETE", "/"+p.ID+"/members/bob", "")
	if pause, err := w.store.PauseOf(t.Context(), "demo", "bob"); err != nil || pause.Count != 1 {
		t.Errorf("bob declined, and pauses: %+v, %v", pause, err)
	}
	w.do("zoe", "POST", "/members", `{"code":"`+w.do("ada", "GET", "", "").Code+`"}`)
}

func TestCodeIsRenewedWhenSomebodyLeaves(t *testing.T) {
	w := start(t, defaults)
	p := w.party("ada", "bob")
	w.do("bob", "DELETE", "/"+p.ID+"/members/bob", "")
	now := w.do("ada", "GET", "/"+p.ID, "")
	if now.Code == p.Code {
		t.Error("who left knows the code")
	}
	if status, _ := w.as("bob", "POST", "/members", `{"code":"`+p.Code+`"}`); status != 404 {
		t.Errorf("bob joins with the code from before he left: %d", status)
	}
	w.do("bob", "POST", "/members", `{"code":"`+now.Code+`"}`)
}

// A member is there whose request is held for longer than members may be silent.
func TestMemberWithAHeldRequestIsThere(t *testing.T) {
	t.Parallel()
	w := start(t, func(s *party.Settings) { s.Silence = 3 * time.Second })
	p := w.party("ada")
	status, _ := w.as("ada", "GET", "/"+p.ID, "", "If-None-Match", fmt.Sprintf(`"%d"`, p.Revision), "Prefer", "wait=8")
	if status != 304 {
		t.Errorf("the held request: %d", status)
	}
	if mine := w.do("ada", "GET", "", ""); !strings.Contains(mine.players(), "ada") {
		t.Errorf("ada left, as silent: %+v", mine)
	}
}

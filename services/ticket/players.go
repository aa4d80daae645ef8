package ticket

import (
	"fmt"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/state"
)

// creation is the body of a create.
type creation struct {
	fields.Values
	Players []fields.Player `json:"players"`
	Queues  []string        `json:"queues"`
	// Receipts are what beacons signed of the player's latencies.
	Receipts []string `json:"receipts,omitempty"`
}

// check is an error that names the member when the body is outside the limits, or names players that the caller may not
// act for.
func (in *creation) check(l fields.Limits, p *auth.Principal) error {
	if err := in.Check(l); err != nil {
		return err
	}
	if err := receipt.CheckSize(in.Receipts, p); err != nil {
		return err
	}
	if err := fields.CheckPlayers(in.Players, l); err != nil || p.Kind != auth.Player {
		return err
	}
	for i := range in.Players {
		if in.Players[i].ID != p.Subject {
			return problem.New(problem.Forbidden, "players.%d.id: a player's token names only the player itself", i)
		}
	}
	return nil
}

// isOf reports whether a player is the owner of a ticket or one of its players.
func isOf(t *pb.Ticket, player string) bool {
	return t.GetOwner() == player ||
		slices.ContainsFunc(t.GetPlayers(), func(p *pb.Player) bool { return p.GetId() == player })
}

// shownTo is a ticket as its owner, or one of its players, may see it: without what others of its players have, and
// unless it is the owner's, without what the ticket has.
func shownTo(player string, t *state.Ticket) *state.Ticket {
	if len(t.Body.GetPlayers()) == 0 {
		return t
	}
	shown := &pb.Ticket{Id: t.Body.GetId(), Created: t.Body.GetCreated(), Queues: t.Body.GetQueues()}
	if t.Body.GetOwner() == player {
		shown.AttributeNames, shown.AttributeValues = t.Body.GetAttributeNames(), t.Body.GetAttributeValues()
		shown.Properties = t.Body.GetProperties()
	}
	for _, p := range t.Body.GetPlayers() {
		if p.GetId() != player {
			p = &pb.Player{Id: p.GetId()}
		}
		shown.Players = append(shown.Players, p)
	}
	other := *t
	other.Body = shown
	return &other
}

// applyTokenClaims checks that the caller sets only attributes and properties that are its own to set, and returns the
// ticket with those that the player's token and receipts of beacons vouch for: the ticket has them, and so has the
// player, if the ticket names players. given is not changed, since settings that change meanwhile decide anew.
//
// A service token sets any. A player's token sets those that clients may set; a claim that it does not have, or that is
// null, sets nothing, and one of the wrong kind refuses the ticket.
func applyTokenClaims(given creation, settings *pb.ProjectSettings, caller *auth.Principal, limits fields.Limits,
	measured func() (map[string]float64, error)) (creation, error) {
	if caller.Kind == auth.Service || !definition.HasSetters(settings) {
		return given, nil
	}
	if err := definition.CheckSetters("", given.Values, settings); err != nil {
		return given, err
	}
	for i := range given.Players {
		at := fmt.Sprintf("players.%d.", i)
		if err := definition.CheckSetters(at, given.Players[i].Values, settings); err != nil {
			return given, err
		}
	}
	vouched, err := definition.VouchedFor(settings, caller, measured)
	if err != nil || vouched.Empty() {
		return given, err
	}
	all := given
	all.Players = slices.Clone(given.Players)
	if all.Values, err = definition.AddVouched(vouched, given.Values, limits); err != nil {
		return given, err
	}
	for i := range all.Players { // all of them are the token's player
		p := &all.Players[i]
		if p.Values, err = definition.AddVouched(vouched, p.Values, limits); err != nil {
			return given, err
		}
	}
	return all, nil
}

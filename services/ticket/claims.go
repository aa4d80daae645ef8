package ticket

import (
	"fmt"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/match/definition"
)

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

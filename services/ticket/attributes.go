package ticket

import (
	"fmt"
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/definition"
	"matchmaker.dev/services/internal/fields"
)

// believe checks that the caller sets only attributes that are its own to set, and returns the ticket with those that
// the player's token vouches for: the ticket has them, and so has the player, if the ticket names players. given is not
// changed, since settings that change meanwhile decide anew.
//
// A service token sets any attribute. A player's token sets those that clients may set; a claim that it does not have,
// or that is null, sets nothing, and one that is no number refuses the ticket.
func believe(given creation, settings *pb.ProjectSettings, caller *auth.Principal, limits fields.Limits) (
	creation, error) {
	rules := settings.GetAttributes()
	if len(rules) == 0 || caller.Kind == auth.Service {
		return given, nil
	}
	if err := definition.CheckSetters("", given.Attributes, rules); err != nil {
		return given, err
	}
	for i := range given.Players {
		if err := definition.CheckSetters(fmt.Sprintf("players.%d.", i), given.Players[i].Attributes, rules); err != nil {
			return given, err
		}
	}
	vouched, err := definition.VouchedFor(rules, caller)
	if err != nil || len(vouched) == 0 {
		return given, err
	}
	all := given
	all.Players = slices.Clone(given.Players)
	if all.Attributes, err = definition.AddVouched(vouched, given.Attributes, limits); err != nil {
		return given, err
	}
	for i := range all.Players { // all of them are the token's player
		p := &all.Players[i]
		if p.Attributes, err = definition.AddVouched(vouched, p.Attributes, limits); err != nil {
			return given, err
		}
	}
	return all, nil
}

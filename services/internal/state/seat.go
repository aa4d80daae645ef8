package state

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// longestSeat is the most bytes of the name of a team or a role, as in servers' rosters.
const longestSeat = 256

// seated writes the seats of players into the results of tickets that join a running game: the ticket's team in the
// proposal, and the roles that the ticket's properties list as "roles". The game's roster has them as soon as the
// tickets join, for the next function to see.
func seated(m *pb.Match, tickets []string, results []*pb.Assignment) []*pb.Assignment {
	p := m.GetProposal()
	teams := make(map[string]string, len(tickets))
	for _, team := range p.GetTeams() {
		if name := team.GetName(); len(name) <= longestSeat {
			for _, id := range team.GetTickets() {
				teams[id] = name
			}
		}
	}
	all := make([]*pb.Assignment, len(tickets))
	for i := range tickets {
		a := results[min(i, len(results)-1)]
		all[i] = a
		team, roles := teams[tickets[i]], rolesIn(p.GetTicketProperties()[tickets[i]])
		if team == "" && roles == nil {
			continue
		}
		all[i] = copyOf(a)
		all[i].Team, all[i].Roles = team, roles
	}
	return all
}

// rolesIn are the roles in the properties that a function gives to a ticket, in the order of the ticket's players; nil
// for none, as properties may have that name for anything else.
func rolesIn(properties []byte) []string {
	var of struct {
		Roles jsontext.Value `json:"roles"`
	}
	var roles []string
	if len(properties) == 0 || json.Unmarshal(properties, &of) != nil || len(of.Roles) == 0 ||
		json.Unmarshal(of.Roles, &roles) != nil {
		return nil
	}
	for _, role := range roles {
		if len(role) > longestSeat {
			return nil
		}
	}
	return roles
}

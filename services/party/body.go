package party

import (
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/fields"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/receipt"
	"matchmaker.dev/services/internal/match/definition"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
)

// creation is the body of a POST.
type creation struct {
	// Size is how many members the party may have.
	Size *int `json:"size"`
	membership
}

// joining is the body of a POST of a member.
type joining struct {
	Code string `json:"code"`
	membership
}

// membership is what a member says of itself.
type membership struct {
	Ready *bool `json:"ready"`
	fields.Values
	// Receipts are what beacons signed of the member's latencies.
	Receipts []string `json:"receipts"`
}

// speaker is the caller that sets a member's values.
type speaker struct {
	caller *auth.Principal
	// settings are those that the project has now, and then those by which the member said it before.
	settings, then *pb.ProjectSettings
	// had is the member until now, nil for a new one.
	had *pb.Member
	now time.Time
	// measured returns the round trips that the member's receipts prove, in milliseconds by region.
	measured func() (map[string]float64, error)
}

// record is the member, with the attributes and properties that its token and receipts vouch for. What they set before
// stays until the token expires, unless it is set again, and what a game service set stays for the member. One is ready
// unless it says otherwise.
func (m *membership) record(player string, joined int64, l fields.Limits, by speaker) (*pb.Member, error) {
	if err := m.Check(l); err != nil {
		return nil, err
	}
	if err := receipt.CheckSize(m.Receipts, by.caller); err != nil {
		return nil, err
	}
	one := &pb.Member{
		Player: player, Joined: joined, Ready: m.Ready == nil || *m.Ready, Settings: by.settings.GetRevision(),
	}
	taken := m.Values
	if definition.HasSetters(by.settings) {
		var err error
		if taken, one.Vouched, err = m.vouchedValues(l, by); err != nil {
			return nil, err
		}
	}
	one.Properties = taken.Properties
	one.AttributeNames, one.AttributeValues = taken.Columns()
	return one, nil
}

// vouchedValues is what the member has under the project's settings, and until when tokens vouch for it, 0 for always.
func (m *membership) vouchedValues(l fields.Limits, by speaker) (taken fields.Values, until int64, err error) {
	stays, claimed := definition.Kept(valuesOf(by.had), by.then, by.settings)
	if vouched := by.had.GetVouched(); vouched > 0 && vouched <= by.now.UnixMilli() {
		claimed = fields.Values{}
	}
	if by.caller.Kind != auth.Player {
		stays = fields.Values{} // a game service says all that it sets
	} else {
		if err := definition.CheckSetters("", m.Values, by.settings); err != nil {
			return taken, 0, err
		}
		vouched, err := definition.VouchedFor(by.settings, by.caller, by.measured)
		if err != nil {
			return taken, 0, err
		}
		if !vouched.Empty() {
			until = by.caller.Expires.UnixMilli()
		}
		if stays, err = definition.AddVouched(stays, vouched, l); err != nil {
			return taken, 0, err
		}
	}
	if taken, err = definition.AddVouched(stays, m.Values, l); err != nil {
		return taken, 0, err
	}
	all, err := definition.AddVouched(claimed, taken, l)
	stayed := len(all.Attributes)+len(all.Properties) > len(taken.Attributes)+len(taken.Properties)
	if old := by.had.GetVouched(); stayed && old > 0 && (until == 0 || old < until) {
		until = old
	}
	return all, until, err
}

// valuesOf are the attributes and properties of a member.
func valuesOf(m *pb.Member) fields.Values {
	return fields.Values{
		Attributes: fields.Attributes(m.GetAttributeNames(), m.GetAttributeValues()), Properties: m.GetProperties(),
	}
}

// searching is the body of a PUT of the search.
type searching struct {
	Queues []string `json:"queues"`
	fields.Values
}

// leadership is the body of a PUT of the leader.
type leadership struct {
	Player string `json:"player"`
}

// ended is what is told of a party that is gone for a player.
type ended struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// bodyFor is a party as a player sees it.
func bodyFor(p *pb.Party, player string) response.Party {
	b := response.Party{
		ID: p.GetId(), Code: p.GetCode(), Leader: p.GetLeader(), Created: p.GetCreated(), Revision: p.GetRevision(),
		Size: int(p.GetSize()), Members: []response.PartyMember{},
	}
	for _, m := range p.GetMembers() {
		one := response.PartyMember{ID: m.GetPlayer(), Joined: m.GetJoined(), Ready: m.GetReady()}
		if m.GetPlayer() == player {
			if len(m.GetAttributeNames()) > 0 {
				one.Attributes = fields.Attributes(m.GetAttributeNames(), m.GetAttributeValues())
			}
			one.Properties = m.GetProperties()
		}
		b.Members = append(b.Members, one)
	}
	if s := p.GetSearch(); s != nil {
		b.Search = &response.PartySearch{Ticket: s.GetTicket(), Started: s.GetStarted()}
	}
	return b
}

// refused is a 404 for players outside the party: to them it does not exist.
func refused(party string) error {
	return problem.New(problem.PartyNotFound, "party %q was not found", party)
}

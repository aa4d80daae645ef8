package clienttest

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
)

type party struct {
	client.Party
	left map[string]string // why players are not in it any more
}

func (p *party) at(player string) int {
	return slices.IndexFunc(p.Members, func(m client.PartyMember) bool { return m.ID == player })
}

// partyOf returns the party of a player, nil if there is none.
func (s *Service) partyOf(player string) *party {
	for _, p := range s.parties {
		if p.at(player) >= 0 {
			return p
		}
	}
	return nil
}

// ofParty finds the party that a request is about.
func (s *Service) ofParty(leads bool, answer func(*call, *party) (int, any)) func(*call) (int, any) {
	return func(c *call) (int, any) {
		p, id := s.partyOf(c.player), c.PathValue("party")
		switch {
		case p == nil || id != "" && id != p.ID:
			return refuse(http.StatusNotFound, client.CodePartyNotFound)
		case leads && p.Leader != c.player:
			return refuse(http.StatusForbidden, client.CodeNotLeader)
		}
		return answer(c, p)
	}
}

// changedParty is the answer to a change of a party.
func (s *Service) changedParty(c *call, p *party) (int, any) {
	p.Revision++
	return http.StatusOK, p.shown(c.player)
}

// shown is the party as a member sees it: of others without attributes and properties.
func (p *party) shown(player string) client.Party {
	to := p.Party
	to.Members = slices.Clone(to.Members)
	for i, m := range to.Members {
		if m.ID != player {
			to.Members[i].Attributes, to.Members[i].Properties = nil, nil
		}
	}
	return to
}

func (s *Service) partyCode() string {
	s.count++
	return "FAKE" + strconv.Itoa(10000+s.count)
}

// member is the player of a request, as it says it is.
type member struct {
	client.PartyMember
	Code string `json:"code"`
	Size int    `json:"size"`
}

func memberOf(c *call) member {
	var m member
	c.decode(&m)
	m.ID, m.Joined = c.player, time.Now().UnixMilli()
	return m
}

func (s *Service) createParty(c *call) (int, any) {
	if s.partyOf(c.player) != nil {
		return refuse(http.StatusConflict, client.CodeAlreadyInParty)
	}
	m := memberOf(c)
	if m.Size == 0 {
		m.Size = 16
	}
	p := &party{left: map[string]string{}, Party: client.Party{ID: s.id("party"), Code: s.partyCode(), Leader: m.ID,
		Created: m.Joined, Revision: 1, Size: m.Size, Members: []client.PartyMember{m.PartyMember}}}
	s.parties = append(s.parties, p)
	return http.StatusCreated, p.Party
}

func (s *Service) join(c *call) (int, any) {
	m, own := memberOf(c), s.partyOf(c.player)
	code := strings.ToUpper(strings.NewReplacer("-", "", " ", "").Replace(m.Code))
	i := slices.IndexFunc(s.parties, func(p *party) bool { return p.Code == code && p.left[c.player] != "kicked" })
	if i < 0 {
		return refuse(http.StatusNotFound, client.CodePartyCodeUnknown)
	}
	p := s.parties[i]
	switch {
	case own == p:
		return http.StatusOK, p.shown(c.player)
	case own != nil:
		return refuse(http.StatusConflict, client.CodeAlreadyInParty)
	case len(p.Members) >= p.Size:
		return refuse(http.StatusConflict, client.CodePartyFull)
	}
	s.stop(p)
	delete(p.left, m.ID)
	p.Members = append(p.Members, m.PartyMember)
	return s.changedParty(c, p)
}

func (s *Service) readParty(c *call, p *party) (int, any) {
	if c.Header.Get("If-None-Match") == strconv.Quote(strconv.FormatInt(p.Revision, 10)) {
		return http.StatusNotModified, nil
	}
	return http.StatusOK, p.shown(c.player)
}

func (s *Service) followParty(c *call, p *party) (int, any) {
	return http.StatusOK, news(func() (int64, string, any) {
		if p.at(c.player) < 0 {
			return p.Revision, client.EventEnded, map[string]string{"id": p.ID, "reason": p.left[c.player]}
		}
		return p.Revision, "party", p.shown(c.player)
	})
}

func (s *Service) updateMember(c *call, p *party) (int, any) {
	if c.PathValue("member") != c.player {
		return refuse(http.StatusForbidden, client.CodeForbidden)
	}
	m, i := memberOf(c), p.at(c.player)
	m.Joined = p.Members[i].Joined
	p.Members[i] = m.PartyMember
	return s.changedParty(c, p)
}

func (s *Service) removeMember(c *call, p *party) (int, any) {
	of := c.PathValue("member")
	switch {
	case of == c.player:
		return s.leave(c, p, "left", of)
	case p.Leader != c.player:
		return refuse(http.StatusForbidden, client.CodeNotLeader)
	case p.at(of) < 0:
		return refuse(http.StatusNotFound, client.CodeMemberNotFound)
	}
	s.leave(c, p, "kicked", of)
	return http.StatusOK, p.shown(c.player)
}

func (s *Service) disband(c *call, p *party) (int, any) {
	var all []string
	for _, m := range p.Members {
		all = append(all, m.ID)
	}
	return s.leave(c, p, "disbanded", all...)
}

func (s *Service) leave(c *call, p *party, reason string, players ...string) (int, any) {
	s.stop(p)
	for _, player := range players {
		p.left[player] = reason
	}
	p.Members = slices.DeleteFunc(p.Members, func(m client.PartyMember) bool { return slices.Contains(players, m.ID) })
	p.Code = s.partyCode()
	if len(p.Members) > 0 && p.at(p.Leader) < 0 {
		p.Leader = p.Members[0].ID
	}
	s.changedParty(c, p)
	return http.StatusNoContent, nil
}

func (s *Service) setLeader(c *call, p *party) (int, any) {
	var to struct{ Player string }
	c.decode(&to)
	if p.at(to.Player) < 0 {
		return refuse(http.StatusNotFound, client.CodeMemberNotFound)
	}
	p.Leader = to.Player
	return s.changedParty(c, p)
}

func (s *Service) renewCode(c *call, p *party) (int, any) {
	p.Code = s.partyCode()
	return s.changedParty(c, p)
}

func (s *Service) startSearch(c *call, p *party) (int, any) {
	if slices.ContainsFunc(p.Members, func(m client.PartyMember) bool { return !m.Ready }) {
		return refuse(http.StatusConflict, client.CodeMemberNotReady)
	}
	if !slices.ContainsFunc(s.tickets, p.searchedBy) {
		t := &ticket{owner: p.Leader}
		c.decode(&t.Ticket)
		for _, m := range p.Members {
			t.players = append(t.players, m.ID)
			t.Players = append(t.Players, client.Player{ID: m.ID, Attributes: m.Attributes, Properties: m.Properties})
		}
		s.enter(t)
		p.Search = &client.PartySearch{Ticket: t.ID, Started: t.Created}
	}
	return s.changedParty(c, p)
}

func (s *Service) stopSearch(c *call, p *party) (int, any) {
	s.stop(p)
	return s.changedParty(c, p)
}

// searchedBy reports whether a ticket is the party's, and waits.
func (p *party) searchedBy(t *ticket) bool {
	return p.Search != nil && t.ID == p.Search.Ticket && t.waits()
}

// stop ends a party's search.
func (s *Service) stop(p *party) {
	for _, t := range s.tickets {
		if p.searchedBy(t) {
			s.end(t, "deleted")
		}
	}
	p.Search = nil
}

// Puppet is a match function that proposes what its config's settings say.
//
// It takes the tickets whose attribute "lane" is the setting "lane", so that many configs of one project can use it. A
// match has "size" tickets, or one ticket from each pool in "roles". The settings "assignmentProperties",
// "matchProperties" and "ticketProperties" are JSON in a string. With "echo" the properties of a ticket in the match
// are its property "echo". With "count" the match properties have the number of tickets of the run, as {"tickets": 7}.
//
// With "fill" it only proposes tickets for the backfill tickets of its lane, as many as their attribute "seats" says.
// It lowers that attribute, and writes the number of tickets into the property "note".
package main

import (
	"fmt"
	"strconv"

	"matchmaker.dev/pkg/matchfn"
)

var _ = matchfn.Register(match, matchfn.Attributes("lane", "seats"), matchfn.Properties("echo"))

func main() {}

func match(r *matchfn.Run) error {
	s := r.Settings()
	p := puppet{
		run:  r,
		lane: s.Float("lane", 0), size: s.Int("size", 1), roles: s.Strings("roles"), echo: s.Bool("echo",
			false), count: s.Bool("count", false),
		connection: s.String("connection", ""), failure: s.String("error", ""),
		assignment: s.String("assignmentProperties", ""), match: s.String("matchProperties",
			""), ticket: s.String("ticketProperties", ""),
	}
	if err := s.Err(); err != nil {
		return err
	}
	if len(p.roles) > 0 {
		p.byRole()
		return nil
	}
	all := make([]uint32, r.Tickets())
	for i := range all {
		all[i] = uint32(i)
	}
	mine := p.inLane(all)
	if s.Bool("fill", false) {
		p.fill(mine)
		return nil
	}
	for ; len(mine) >= p.size; mine = mine[p.size:] {
		p.propose(mine[:p.size])
	}
	return nil
}

type puppet struct {
	run                       *matchfn.Run
	lane                      float64
	size                      int
	roles                     []string
	echo, count               bool
	connection, failure       string
	assignment, match, ticket string
}

// inLane lists the tickets that are in the puppet's lane.
func (p *puppet) inLane(tickets []uint32) []uint32 {
	lane := p.run.Attribute("lane")
	var mine []uint32
	for _, t := range tickets {
		if lane[t] == p.lane {
			mine = append(mine, t)
		}
	}
	return mine
}

// fill gives tickets to the backfill tickets of the puppet's lane.
func (p *puppet) fill(tickets []uint32) {
	lane, seats := p.run.BackfillAttribute("lane"), p.run.BackfillAttribute("seats")
	for b := range uint32(p.run.Backfills()) {
		if lane[b] != p.lane || !(seats[b] >= 1) || len(tickets) == 0 {
			continue
		}
		n := min(len(tickets), int(seats[b]))
		p.propose(tickets[:n]).UpdateBackfill(b).Attribute("seats", seats[b]-float64(n)).Property("note",
			strconv.AppendInt(nil, int64(n), 10))
		tickets = tickets[n:]
		fmt.Println("the puppet fills a game of lane", int64(p.lane))
	}
}

// byRole proposes matches of one ticket from each role's pool. It uses no ticket twice.
func (p *puppet) byRole() {
	taken := make([]bool, p.run.Tickets())
	for {
		var team []uint32
		for _, role := range p.roles {
			for _, t := range p.inLane(p.run.Pool(role)) {
				if !taken[t] {
					taken[t] = true
					team = append(team, t)
					break
				}
			}
		}
		if len(team) < len(p.roles) {
			return
		}
		p.propose(team)
	}
}

func (p *puppet) propose(tickets []uint32) matchfn.Proposal {
	fmt.Println("the puppet proposes a match of", len(tickets))
	proposal := p.run.Propose(0, tickets...)
	if p.connection != "" {
		proposal.Connection(p.connection)
	}
	if p.failure != "" {
		proposal.Error(p.failure)
	}
	if p.assignment != "" {
		proposal.AssignmentProperties([]byte(p.assignment))
	}
	if p.match != "" {
		proposal.MatchProperties([]byte(p.match))
	}
	if p.count {
		proposal.MatchProperties(fmt.Appendf(nil, `{"tickets":%d}`, p.run.Tickets()))
	}
	echo := p.run.Property("echo")
	for _, t := range tickets {
		if p.ticket != "" {
			proposal.TicketProperties(t, []byte(p.ticket))
		}
		if value, ok := echo.Of(t); ok && p.echo {
			proposal.TicketProperties(t, value)
		}
	}
	return proposal
}

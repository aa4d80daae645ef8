package simulate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// walkStep is one kind of call. choose says with what it is made, by what Redis had when the walk looked last; nil when
// there is nothing to call it with. It may be made twice. Chores are what services do by themselves, and end what is
// under way.
type walkStep struct {
	name   string
	weight int
	chores bool
	choose func(w *walk) func() error
}

var walkConfigs = []string{"a", "b"}

var walkSteps = []walkStep{
	{"create", 12, false, (*walk).create},
	{"create again", 2, false, (*walk).createAgain},
	{"leave", 4, false, (*walk).leave},
	{"ask", 6, false, (*walk).ask},
	{"claim", 10, false, (*walk).claim},
	{"open a game", 4, false, (*walk).claimGame},
	{"join a game", 6, false, (*walk).claimJoining},
	{"assign", 1, false, (*walk).assignWaiting},
	{"answer", 14, false, (*walk).answer},
	{"allocate", 8, true, (*walk).allocate},
	{"renew", 2, false, (*walk).renew},
	{"end", 8, true, (*walk).end},
	{"release", 1, false, (*walk).release},
	{"refuse", 4, false, (*walk).refuse},
	{"server", 1, false, (*walk).gameServer},
	{"create game", 1, false, (*walk).createBackfill},
	{"replace game", 1, false, (*walk).replaceBackfill},
	{"delete game", 1, false, (*walk).deleteBackfill},
	{"approve", 6, false, (*walk).approve},
	{"create party", 3, false, (*walk).createParty},
	{"change party", 6, false, (*walk).changeParty},
	{"search", 5, false, (*walk).search},
	{"hear member", 3, false, (*walk).hearMember},
	{"put config", 1, false, (*walk).putConfig},
	{"delete config", 1, false, (*walk).deleteConfig},
	{"settings", 1, false, (*walk).putSettings},
	{"webhooks", 1, false, (*walk).noteWebhooks},
	{"function", 1, false, (*walk).putFunction},
	{"forget player", 1, false, (*walk).forgetPlayer},
	{"report", 8, false, (*walk).report},
	{"forget played", 1, false, (*walk).forgetPlayed},
	{"standing", 1, false, (*walk).standing},
	{"lead", 2, false, (*walk).lead},
	{"tell", 1, false, (*walk).tell},
	{"limit", 1, false, (*walk).limit},
	{"other project", 1, false, (*walk).otherProject},

	{"acceptances", 8, true, (*walk).endAcceptances},
	{"accepted", 4, true, (*walk).endAccepted},
	{"overdue matches", 3, true, always((*walk).overdue)},
	{"outbox", 2, true, always((*walk).outbox)},
	{"deallocate", 4, true, always((*walk).deallocate)},
	{"expire", 3, true, always((*walk).expire)},
	{"joins", 2, true, always((*walk).joins)},
	{"due too late", 1, true, (*walk).capDue},
}

// always is the choice of a call without anything to choose.
func always(do func(*walk) error) func(*walk) func() error {
	return func(w *walk) func() error { return func() error { return do(w) } }
}

// id is a new name.
func (w *walk) id(kind string) string {
	w.n++
	return fmt.Sprintf("%s%d", kind, w.n)
}

func (w *walk) player() string { return fmt.Sprint("p", w.IntN(14)) }

// one picks one of some; "" of none.
func (w *walk) one(some []string) string {
	if len(some) == 0 {
		return ""
	}
	return some[w.IntN(len(some))]
}

// some picks up to n.
func (w *walk) some(all []string, n int) []string {
	w.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// largeText is a property that is stored apart.
var largeText = []byte(`"` + strings.Repeat("y", 1500) + `"`)

// text is a property, which is large at times.
func (w *walk) text() []byte {
	if w.IntN(5) > 0 {
		return []byte("1")
	}
	return []byte(`"` + strings.Repeat("x", 1500+w.IntN(40_000)) + `"`)
}

func (w *walk) ticket(id string, players ...string) *pb.Ticket {
	t := &pb.Ticket{Id: id, Owner: players[0], Created: time.Now().UnixMilli(),
		Queues: []string{w.one([]string{"q1", "q2"})}, Properties: map[string][]byte{"p": w.text()}}
	if len(players) > 1 {
		for _, player := range players {
			t.Players = append(t.Players, &pb.Player{Id: player})
		}
	}
	return t
}

func (w *walk) creation(t *pb.Ticket) state.Creation {
	return state.Creation{Ticket: t, Settings: w.settings, Readable: walkReadable}
}

func (w *walk) create() func() error {
	players := []string{w.player()}
	for w.IntN(3) == 0 {
		if p := w.player(); !slices.Contains(players, p) {
			players = append(players, p)
		}
	}
	c := w.creation(w.ticket("", players...))
	if w.IntN(3) == 0 {
		c.Key, c.Request = w.id("key"), []byte("r")
	}
	w.creations = append(w.creations, c)
	return w.creating(c)
}

// creating creates a ticket, with a new id each time.
func (w *walk) creating(c state.Creation) func() error {
	return func() error {
		c.Ticket = proto.CloneOf(c.Ticket)
		c.Ticket.Id = w.id("t")
		created, err := w.store.Creator(nil).CreateAs(w.ctx, walkProject, c)
		if err == nil {
			w.created(c, created)
		}
		return err
	}
}

func (w *walk) createAgain() func() error {
	i := len(w.creations) - 1 - w.IntN(20)
	if i < 0 || w.creations[i].Key == "" {
		return nil
	}
	c := w.creation(w.creations[i].Ticket)
	c.Key, c.Request = w.creations[i].Key, w.creations[i].Request
	return w.creating(c)
}

func (w *walk) leave() func() error {
	id := w.one(w.now.in("w", "c", "r"))
	if id == "" {
		return nil
	}
	l := state.Leaving{Ticket: id, By: w.player(), Readable: walkReadable, Keeps: w.IntN(3) == 0}
	if names := w.now.tickets[id].players; w.IntN(3) > 0 {
		l.By = w.one(names)
		l.Player, l.Decline = l.By, []string{l.By}
	} else {
		l.Service = w.IntN(2) == 0
	}
	return func() error {
		if !l.Keeps {
			w.deletable[id] = true
		}
		_, _, err := w.store.Leave(w.ctx, walkProject, l)
		return err
	}
}

func (w *walk) ask() func() error {
	ids := w.some(w.now.in("w", "c"), 4)
	return func() error {
		for _, id := range ids {
			w.heard.Heard(walkProject, id)
			w.asked[id] = append(w.asked[id], time.Now())
		}
		return nil
	}
}

// match is a new match of waiting tickets.
func (w *walk) match(hosted bool, tickets []string) *pb.Match {
	config := w.one(walkConfigs)
	m := &pb.Match{Id: w.id("m"), Config: config, Created: time.Now().UnixMilli(),
		Proposal: &pb.Proposal{Teams: []*pb.Team{{Tickets: tickets[:1]}}, Compare: w.IntN(2) == 0}}
	_, _ = fmt.Sscan(w.now.hash("revisions")[config], &m.Revision)
	if len(tickets) > 1 {
		m.Proposal.Teams = append(m.Proposal.Teams, &pb.Team{Name: "2", Tickets: tickets[1:]})
	}
	if hosted {
		m.Hosting, m.Place = &pb.Hosting{Fleet: w.one([]string{"f1", "f2"})}, state.PlaceHosting
		if w.IntN(3) == 0 {
			m.Proposal.Hosting = &pb.HostingOverride{Region: w.one([]string{"eu", "us", "mars"})}
		}
	}
	if w.IntN(2) == 0 {
		m.Acceptance = 8000
	}
	if w.IntN(3) > 0 {
		m.Proposal.MatchProperties = w.text()
		if w.IntN(2) == 0 { // an outcome of its own
			m.Proposal.MatchProperties = largeText
		}
	}
	if w.IntN(2) == 0 {
		m.Awaited = &pb.Awaited{Time: 60_000, Match: m.GetId()}
	}
	w.made = append(w.made, m)
	return m
}

func (w *walk) terms() state.ClaimOptions {
	o := state.ClaimOptions{Claim: walkClaim, Readable: walkReadable, Approval: walkApproval, Matches: 20}
	_, _ = fmt.Sscan(w.now.hash("lease")["epoch"], &o.Epoch)
	return o
}

func (w *walk) results(m *pb.Match, connection string) (all []*pb.Assignment) {
	for range state.TicketsOf(m.GetProposal()) {
		all = append(all, &pb.Assignment{Connection: connection, MatchProperties: m.GetProposal().GetMatchProperties()})
	}
	return all
}

func (w *walk) claiming(claims ...*state.Claim) func() error {
	terms := w.terms()
	return func() error {
		_, err := w.store.Claim(w.ctx, walkProject, terms, claims)
		return err
	}
}

func claimOf(m *pb.Match) *state.Claim {
	return &state.Claim{Match: m, Tickets: state.TicketsOf(m.GetProposal())}
}

// waiting are the tickets of which matches can be made.
func (w *walk) waiting() []string {
	if w.quiet {
		return nil
	}
	return w.now.in("w")
}

func (w *walk) claim() func() error {
	var claims []*state.Claim
	waiting := w.some(w.waiting(), 6)
	for len(waiting) > 0 {
		n := 1 + w.IntN(min(3, len(waiting)))
		m := w.match(w.IntN(4) > 0, waiting[:n:n])
		c := claimOf(m)
		if m.Hosting == nil && m.Acceptance == 0 {
			c.Assignments = w.results(m, "direct:"+m.Id)
		}
		claims, waiting = append(claims, c), waiting[n:]
	}
	if len(claims) == 0 {
		return nil
	}
	return w.claiming(claims...)
}

func (w *walk) claimGame() func() error {
	waiting := w.some(w.waiting(), 2)
	if len(waiting) == 0 {
		return nil
	}
	m := w.match(true, waiting)
	m.Backfill = w.id("bf")
	m.Proposal.Filling = &pb.Filling{Contents: &pb.Backfill{Properties: map[string][]byte{"p": w.text()}}}
	return w.claiming(claimOf(m))
}

func (w *walk) claimJoining() func() error {
	waiting, game := w.some(w.waiting(), 1+w.IntN(2)), w.one(w.now.games())
	if len(waiting) == 0 || game == "" {
		return nil
	}
	m := w.match(false, waiting)
	m.Proposal.Filling, m.Place = &pb.Filling{Backfill: game}, state.PlaceGame+game
	_, _ = fmt.Sscan(w.now.hash("bf:" + game)["g"], &m.Proposal.Filling.Generation)
	if w.IntN(2) == 0 {
		m.Proposal.Filling.Contents = &pb.Backfill{Properties: map[string][]byte{"p": w.text()}}
	}
	return w.claiming(claimOf(m))
}

func (w *walk) assignWaiting() func() error {
	waiting := w.some(w.now.in("w"), 2)
	if len(waiting) == 0 {
		return nil
	}
	p := &pb.Proposal{Teams: []*pb.Team{{Tickets: waiting}}, Compare: true}
	results := w.results(&pb.Match{Proposal: p}, "host:1")
	return func() error {
		_, _, _, err := w.store.AssignWaiting(w.ctx, walkProject, p, waiting, results, walkReadable)
		return err
	}
}

func (w *walk) answer() func() error {
	id := w.one(slices.DeleteFunc(w.now.in("c"), func(id string) bool { return w.now.tickets[id].asks == "" }))
	if id == "" {
		return nil
	}
	a := state.Answer{Ticket: id, Match: w.now.tickets[id].asks, Accept: w.IntN(10) > 0}
	if w.IntN(3) == 0 {
		a.Players = []string{w.one(w.now.tickets[id].players)}
	}
	return func() error {
		_, err := w.store.AnswerMatch(w.ctx, walkProject, a)
		return err
	}
}

func (w *walk) endAcceptances() func() error {
	watched := time.Duration(w.IntN(20)) * time.Second
	return func() error {
		_, err := w.store.EndAcceptances(w.ctx, walkProject, state.AcceptanceTerms{Claim: walkClaim,
			Approval: walkApproval, Readable: walkReadable, Watched: watched, Limit: 8})
		return err
	}
}

// endAccepted ends matches that all their players accepted and that have no place.
func (w *walk) endAccepted() func() error {
	for _, id := range slices.Sorted(maps.Keys(w.now.matches)) {
		m := w.now.matches[id]
		if m.state != "q" || m.Match == nil {
			continue
		}
		return func() error {
			if m.GetPlace() != "" {
				return nil
			}
			return w.endWith(m.Match, state.Outcome{Readable: walkReadable, Connection: "direct:" + id})
		}
	}
	return func() error { return nil }
}

// hosted picks matches that ask for a server, or did.
func (w *walk) hosted() *pb.Match {
	open := slices.DeleteFunc(slices.Sorted(maps.Keys(w.now.matches)), func(id string) bool {
		m := w.now.matches[id]
		return m.Match == nil || m.GetPlace() != state.PlaceHosting || m.state != "c" && m.state != "a"
	})
	if len(open) > 0 && (w.resting || w.IntN(8) > 0) {
		return w.now.matches[w.one(open)].Match
	}
	if len(w.made) == 0 || w.resting {
		return nil
	}
	m := w.made[max(0, len(w.made)-1-w.IntN(30))]
	if m.GetPlace() != state.PlaceHosting {
		return nil
	}
	return m
}

func (w *walk) holder() string { return w.one([]string{"h1", "h2", "h3"}) }

func (w *walk) allocate() func() error {
	m, holder := w.hosted(), w.holder()
	if m == nil {
		return func() error { return nil }
	}
	return func() error {
		_, err := w.store.BeginAllocations(w.ctx, walkProject, []state.Beginning{{Match: m, Lease: state.MatchLease{
			Holder: holder, Hold: 3 * time.Second, Search: 15 * time.Second, Claim: 20 * time.Second}}})
		return err
	}
}

func (w *walk) renew() func() error {
	m, holder, hold := w.hosted(), w.holder(), time.Duration(w.IntN(2))*3*time.Second
	if m == nil {
		return nil
	}
	return func() error {
		_, err := w.store.SetMatchLease(w.ctx, walkProject, m.Id, holder, hold)
		return err
	}
}

func (w *walk) endWith(m *pb.Match, o state.Outcome) error {
	e := state.Ending{Match: m, Tickets: state.TicketsOf(m.GetProposal()), Outcome: o}
	for range e.Tickets {
		e.Results = append(e.Results, &pb.Assignment{Connection: o.Connection, Error: o.Error,
			MatchProperties: m.GetProposal().GetMatchProperties()})
	}
	_, err := w.store.EndMatches(w.ctx, walkProject, []state.Ending{e})
	return err
}

func (w *walk) end() func() error {
	m := w.hosted()
	if m == nil {
		return func() error { return nil }
	}
	o := state.Outcome{Holder: cmp.Or(w.now.hash("m:" + m.Id)["h"], w.holder()), Readable: walkReadable,
		Connection: w.id("host:")}
	switch w.IntN(5) {
	case 0:
		o.Connection, o.Error, o.Never, o.MayHaveServer = "", "no server", w.IntN(2) == 0, w.IntN(2) == 0
	case 1:
		o.Server, o.KeepServer = &pb.GameServer{Config: m.Config}, 2*time.Minute
	}
	return func() error { return w.endWith(m, o) }
}

func (w *walk) release() func() error {
	m := w.hosted()
	if m == nil {
		return nil
	}
	holder, may := cmp.Or(w.now.hash("m:" + m.Id)["h"], w.holder()), w.IntN(2) == 0
	return func() error {
		_, err := w.store.ReleaseMatch(w.ctx, walkProject, m, holder, may, "failed")
		return err
	}
}

func (w *walk) refuse() func() error {
	m := w.hosted()
	if m == nil {
		return nil
	}
	return func() error {
		_, err := w.store.RefuseServer(w.ctx, walkProject, m, "full", "")
		return err
	}
}

func (w *walk) gameServer() func() error {
	m := w.hosted()
	if m == nil {
		return nil
	}
	return func() error {
		_, _, err := w.store.GameServer(w.ctx, walkProject, m.Id, time.Minute)
		return err
	}
}

func (w *walk) overdue() error {
	_, _, err := w.store.ReleaseOverdueMatches(w.ctx, walkProject, 8)
	return err
}

func (w *walk) outbox() error {
	due, err := w.store.Outbox(w.ctx, walkProject, time.Second, 8)
	if err == nil {
		err = w.store.RemoveFromOutbox(w.ctx, walkProject, due)
	}
	return err
}

func (w *walk) deallocate() error {
	due, err := w.store.ClaimDeallocations(w.ctx, []string{walkProject}, 64, state.Backoff{First: time.Second,
		Max: 10 * time.Second, Patience: time.Minute})
	for _, d := range due[walkProject] {
		if w.rate > 0 && w.IntN(3) == 0 {
			continue
		}
		_, failed := w.store.FinishDeallocation(w.ctx, walkProject, d, d.Last && w.IntN(2) == 0)
		err = cmp.Or(err, failed)
	}
	return err
}

func (w *walk) roster() *pb.Roster {
	if w.IntN(2) == 0 {
		return nil
	}
	return &pb.Roster{Players: []*pb.RosterPlayer{{Id: w.player()}}}
}

func (w *walk) createBackfill() func() error {
	b := &pb.Backfill{Connection: "game:1", Properties: map[string][]byte{"p": w.text()}, Roster: w.roster()}
	return func() error {
		b.Id = w.id("bf")
		_, err := w.store.CreateBackfill(w.ctx, walkProject, b)
		return err
	}
}

func (w *walk) replaceBackfill() func() error {
	id := w.one(w.now.games())
	if id == "" {
		return nil
	}
	b := &pb.Backfill{Id: id, Connection: w.one([]string{"", "game:2"}), Properties: map[string][]byte{"p": w.text()},
		Roster: w.roster()}
	return func() error { _, err := w.store.ReplaceBackfill(w.ctx, walkProject, b); return err }
}

func (w *walk) deleteBackfill() func() error {
	id := w.one(w.now.games())
	if id == "" {
		return nil
	}
	return func() error { _, _, err := w.store.DeleteBackfill(w.ctx, walkProject, id, ""); return err }
}

func (w *walk) approve() func() error {
	id := w.one(w.now.games())
	if id == "" {
		return nil
	}
	return func() error {
		_, err := w.store.ApproveBackfill(w.ctx, walkProject, id, state.ApprovalOptions{Readable: walkReadable,
			RepeatJoined: 10 * time.Second, Rate: state.Rate{PerSecond: 2, Burst: 4}})
		return err
	}
}

func (w *walk) joins() error {
	_, err := w.store.EndOverdueJoins(w.ctx, walkProject, walkReadable, 4)
	_, _, failure := w.store.DeleteSilentBackfills(w.ctx, walkProject, time.Minute, 4)
	return cmp.Or(err, failure)
}

// capDue is a director's look at what is due too late: another Redis may have written it, whose clock was ahead.
func (w *walk) capDue() func() error {
	list := w.one([]string{"claims", "joins", "outbox", "deallocations", "backfills"})
	id := w.one(slices.Sorted(maps.Keys(w.now.hash(list))))
	key := w.now.prefix + list
	return func() error {
		w.mu.Lock()
		due, _ := strconv.ParseFloat(w.memory.ask("ZSCORE", key, id)[0], 64)
		if due > 1 && !math.IsInf(due, 1) && !w.resting { // it is a time
			w.memory.ask("ZADD", key, fmt.Sprint(int64(due)+time.Hour.Milliseconds()), id)
		}
		w.mu.Unlock()
		found, err := w.store.DueWork(w.ctx, walkProject, state.Ages{Claim: walkClaim, Approval: walkApproval})
		if err == nil {
			_, err = w.store.CapDue(w.ctx, walkProject, found)
		}
		return err
	}
}

func (w *walk) partyLimits() state.PartyLimits {
	return state.PartyLimits{Parties: 8, Silence: 30 * time.Second}
}

func (w *walk) createParty() func() error {
	player := w.player()
	p := &pb.Party{Id: w.id("party"), Code: fmt.Sprint("code", w.n), Leader: player, Size: 4,
		Members: []*pb.Member{{Player: player}}}
	return func() error { return w.store.CreateParty(w.ctx, walkProject, p, w.partyLimits()) }
}

// changeParty lets a player join or leave, cancels the search, or deletes the party. Members change only without a
// search.
func (w *walk) changeParty() func() error {
	id, what, player := w.one(w.now.parties()), w.IntN(8), w.player()
	if id == "" {
		return nil
	}
	by := state.Leaving{By: player, Decline: []string{player}, Readable: walkReadable}
	return func() error {
		_, _, err := w.store.ChangeParty(w.ctx, walkProject, id, w.partyLimits(), by, func(p *pb.Party) (*pb.Party, error) {
			switch {
			case what == 0:
				return nil, nil
			case what == 1:
			case state.MemberOf(p, player) == nil:
				p.Members = append(p.Members, &pb.Member{Player: player})
			case len(p.Members) == 1:
				return nil, nil
			default:
				p.Members = slices.DeleteFunc(p.Members, func(m *pb.Member) bool { return m.Player == player })
				p.Leader, p.Code = p.Members[0].Player, p.Code+"x"
			}
			p.Search = nil
			return p, nil
		})
		return err
	}
}

func (w *walk) search() func() error {
	id := w.one(w.now.parties())
	if id == "" {
		return nil
	}
	return func() error {
		ticket := w.id("t")
		p, err := w.store.Party(w.ctx, walkProject, id)
		if err != nil {
			return err
		}
		last, err := w.store.Ticket(w.ctx, walkProject, p.GetSearch().GetTicket())
		if err == nil && last.Assignment == nil || err != nil && problem.KindOf(err) != problem.NotFound {
			return err // it goes on, or that is not known
		}
		var players []string
		for _, m := range p.Members {
			players = append(players, m.Player)
		}
		w.searches[ticket] = id
		p.Search = &pb.Search{Ticket: ticket}
		_, _, _, err = w.store.StartSearch(w.ctx, walkProject, p, w.ticket(ticket, players...), w.settings, walkReadable,
			time.Minute)
		return err
	}
}

func (w *walk) hearMember() func() error {
	id, player := w.one(w.now.parties()), w.player()
	if id == "" {
		return nil
	}
	return func() error {
		_, err := w.store.HearOfMember(w.ctx, walkProject, id, player, time.Second)
		return err
	}
}

func (w *walk) sweepParties() error {
	limits := w.partyLimits()
	limits.OnlySilent = true
	_, silent, err := w.store.SweepParties(w.ctx, walkProject, limits.Silence, 10*time.Second)
	for _, s := range silent {
		_, _, failure := w.store.ChangeParty(w.ctx, walkProject, s.Party, limits, state.Leaving{Readable: walkReadable},
			func(p *pb.Party) (*pb.Party, error) {
				p.Members = slices.DeleteFunc(p.Members, func(m *pb.Member) bool { return slices.Contains(s.Players, m.Player) })
				if len(p.Members) == 0 {
					return nil, nil
				}
				p.Leader, p.Search = p.Members[0].Player, nil
				return p, nil
			})
		if err == nil && failure != nil && w.rate > 0 {
			err = failure
		}
	}
	return err
}

func (w *walk) putConfig() func() error {
	c := &pb.Config{Id: w.one(walkConfigs), Queue: w.one([]string{"q1", "q2", ""}), Settings: w.text()}
	reseal := w.IntN(3) == 0
	return func() error {
		if !reseal {
			_, _, err := w.store.PutConfig(w.ctx, walkProject, c, state.AnyRevision)
			return err
		}
		there, err := w.store.Config(w.ctx, walkProject, c.Id)
		if err == nil {
			err = w.store.ResealConfig(w.ctx, walkProject, there)
		}
		_, failure := w.store.ResealConfigHistory(w.ctx, walkProject, func(*pb.Config) (bool, error) { return true, nil })
		return cmp.Or(err, failure)
	}
}

func (w *walk) deleteConfig() func() error {
	id := w.one(walkConfigs)
	return func() error {
		if _, err := w.store.DeleteConfig(w.ctx, walkProject, id, state.AnyRevision, "somebody"); err != nil {
			return err
		}
		_, _, err := w.store.PutConfig(w.ctx, walkProject, &pb.Config{Id: id, Queue: "q1"}, state.AnyRevision)
		return err
	}
}

// putSettings changes settings; tickets are listed in any case.
func (w *walk) putSettings() func() error {
	s := &pb.ProjectSettings{Tickets: &pb.TicketRules{Listed: true, EndsTold: w.IntN(3) > 0,
		RefuseUnserved: w.IntN(2) == 0, Silence: walkSilence.Milliseconds()}}
	s.Tickets.PlayerLimit, s.Tickets.WhenReached = w.most, w.one([]string{"refuse", "replace"})
	if w.IntN(2) == 0 {
		s.Acceptance = &pb.AcceptanceRules{FirstPause: 20_000, LongestPause: 60_000}
	}
	for _, name := range []string{"one", "two"}[:w.IntN(3)] {
		s.Webhooks = append(s.Webhooks, &pb.Webhook{Name: name})
	}
	return func() error {
		err := w.store.PutSettings(w.ctx, walkProject, s, state.AnyRevision)
		if now, failure := w.calm.Settings(w.ctx, walkProject); failure == nil {
			w.settings = now
		}
		return err
	}
}

// noteWebhooks is what one of two replicas notes, or that it stops.
func (w *walk) noteWebhooks() func() error {
	owner, hold := w.one([]string{"replica-1", "replica-2"}), []time.Duration{0, 10 * time.Second}[w.IntN(2)]
	note := state.WebhookNote{Name: w.one([]string{"one", "two"}), Place: string(w.text()),
		Letters: []state.DeadLetter{{ID: "letter", Text: w.one([]string{"", "{}"})}}}
	return func() error {
		_, err := w.store.NoteWebhooks(w.ctx, walkProject, owner, hold, note)
		return err
	}
}

func (w *walk) putFunction() func() error {
	name := w.one([]string{"one", "two"})
	return func() error {
		module := w.id("module")
		if err := w.store.NoteModule(w.ctx, walkProject, module); err != nil {
			return err
		}
		err := w.store.ChangeFunction(w.ctx, walkProject, name, func(f *pb.Function) (*pb.Function, error) {
			if f != nil && w.IntN(3) == 0 {
				return nil, nil
			}
			return &pb.Function{Name: name, Module: module}, nil
		})
		if err != nil {
			return err
		}
		unused, err := w.store.UnusedModules(w.ctx, []string{walkProject}, time.Minute)
		if err != nil {
			return err
		}
		taken, err := w.store.TakeModules(w.ctx, walkProject, time.Minute, unused[walkProject].Due)
		return cmp.Or(err, w.store.ForgetModules(w.ctx, walkProject, taken))
	}
}

func (w *walk) forgetPlayer() func() error {
	id := w.one(w.now.in("r"))
	if id == "" || len(w.now.tickets[id].players) < 2 {
		return nil
	}
	player := w.one(w.now.tickets[id].players)
	return func() error { _, err := w.store.ForgetPlayer(w.ctx, walkProject, id, player); return err }
}

// played is a match whose result is awaited or there; "" for none.
func (w *walk) played() string { return w.one(slices.Sorted(maps.Keys(w.now.hash("awaited")))) }

// report reports a result, or a correction: it gives each player one more match, once.
func (w *walk) report() func() error {
	id := w.played()
	if id == "" {
		return nil
	}
	return func() error {
		m, err := w.store.Played(w.ctx, walkProject, id)
		if err != nil {
			return ignoring(err, problem.NotFound)
		}
		var players []string
		for _, t := range m.Tickets {
			players = append(players, t.Players...)
		}
		players = slices.DeleteFunc(players, func(p string) bool { return p == "" })
		basis, err := w.store.ReadResult(w.ctx, walkProject, id, players)
		if err != nil {
			return ignoring(err, problem.NotFound)
		}
		next := &pb.MatchResult{First: 1, Time: 1, Corrections: basis.Result.GetCorrections() + 1}
		var all []state.Rated
		for player, stored := range basis.Ratings {
			next.Changes = append(next.Changes, &pb.RatingChange{Player: player})
			ratings, err := state.ParseRatings(stored)
			if err != nil {
				return err
			}
			if len(ratings) == 0 {
				ratings = []state.PlayerRating{{Name: "skill"}}
			}
			if !isCounted(basis.Result, player) {
				ratings[0].Matches++
			}
			all = append(all, state.Rated{Player: player, Read: stored, Ratings: state.FormatRatings(ratings)})
		}
		_, err = w.store.PutResult(w.ctx, walkProject, basis, next, nil, all)
		return ignoring(err, problem.NotFound)
	}
}

// ignoring is no error when a match was forgotten meanwhile, or its result is final.
func ignoring(err error, kind problem.Code) error {
	if k := problem.KindOf(err); err != nil && (k == kind || k == problem.Conflict) {
		return nil
	}
	return err
}

// isCounted reports whether a result gave a player a match.
func isCounted(r *pb.MatchResult, player string) bool {
	return slices.ContainsFunc(r.GetChanges(), func(c *pb.RatingChange) bool { return c.GetPlayer() == player })
}

// forgetPlayed takes a player out of a match.
func (w *walk) forgetPlayed() func() error {
	id, player := w.played(), w.player()
	if id == "" {
		return nil
	}
	w.erased[player] = true
	return func() error { _, err := w.store.ForgetPlayed(w.ctx, walkProject, id, player); return err }
}

// standing sets a number of a player, or takes the player out of the opponents of others, as an erase does.
func (w *walk) standing() func() error {
	player := w.player()
	if w.IntN(4) == 0 {
		return func() error { return w.store.ForgetOpponent(w.ctx, walkProject, player) }
	}
	return func() error {
		_, _, err := w.store.SetStanding(w.ctx, walkProject, player,
			&pb.StandingRules{Numbers: []*pb.StandingNumber{{Name: "trust"}}}, map[string]float64{"trust": 0.5})
		return err
	}
}

// lead is what directors do for themselves.
func (w *walk) lead() func() error {
	name := w.one([]string{"d1", "d2"})
	epoch := w.terms().Epoch
	return func() error {
		if _, err := w.store.Heartbeat(w.ctx, name, 1, 5*time.Second); err != nil {
			return err
		}
		if w.IntN(10) == 0 {
			return cmp.Or(w.store.ReleaseLease(w.ctx, walkProject, name), w.store.RemoveDirector(w.ctx, name))
		}
		if _, err := w.store.AcquireLease(w.ctx, walkProject, name, 5*time.Second); err != nil {
			return err
		}
		return cmp.Or(w.store.PutWaits(w.ctx, walkProject, epoch, &pb.Waits{}), w.store.NoteErasure(w.ctx, walkProject, "a"),
			w.store.PutReport(w.ctx, walkProject, epoch, 1, &pb.ReportSlot{}, state.ReportKeep{For: time.Minute}))
	}
}

// tell writes and reads the history, and trims the feed.
func (w *walk) tell() func() error {
	return func() error {
		if err := w.store.AppendEvent(w.ctx, walkProject, &pb.Event{Kind: pb.Event_KIND_CREATED}); err != nil {
			return err
		}
		at, err := w.store.Bookmark(w.ctx, walkProject)
		if err != nil {
			return err
		}
		entries, err := w.store.History(w.ctx, walkProject, at, 50)
		if err == nil && len(entries) > 0 {
			err = w.store.SetBookmark(w.ctx, walkProject, entries[len(entries)-1].Bookmark)
		}
		if err == nil {
			_, err = w.store.TrimFeed(w.ctx, walkProject)
		}
		return cmp.Or(err, w.store.AddProjects(w.ctx, []string{walkProject}),
			w.store.ForgetConfigChanges(w.ctx, walkProject, time.Minute))
	}
}

func (w *walk) limit() func() error {
	return func() error {
		err := w.store.AllowN(w.ctx, walkProject, "uploads", state.Rate{PerSecond: 1, Burst: 5}, 2)
		_, _, failure := w.store.Charge(w.ctx, walkProject, "runs", time.Second, state.Budget{Amount: time.Second,
			Window: time.Minute})
		return cmp.Or(err, failure)
	}
}

// otherProject creates a project and removes it.
func (w *walk) otherProject() func() error {
	return func() error {
		if err := w.store.NoteModule(w.ctx, "other", "x.wasm"); err != nil {
			return err
		}
		if err := w.store.WithdrawProject(w.ctx, "other"); err != nil {
			return err
		}
		_, err := w.store.RemoveProject(w.ctx, "other")
		return err
	}
}

func (w *walk) expire() error {
	_, err := w.store.Expire(w.ctx, walkProject, time.Minute, walkReadable, 16)
	_, failure := w.store.EndUnserved(w.ctx, walkProject, 0, 64, 20*time.Second, walkReadable)
	_, _, swept := w.store.SweepResults(w.ctx, walkProject, 64)
	return cmp.Or(err, failure, swept, w.store.ForgetUnserved(w.ctx, walkProject, 5*time.Minute))
}

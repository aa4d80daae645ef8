package state_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/state"
)

// Claims rely on the waiting set. After any steps it has exactly the waiting tickets, and no ticket is in two matches.
func TestWaitingSetHasExactlyTheWaitingTickets(t *testing.T) {
	suite(t, func(t *testing.T, open func(state.Options) *state.Store) {
		s := open(state.Options{})
		revision, terms := setUp(t, s)
		m := &model{t: t, store: s, random: rand.New(rand.NewPCG(1, 2)), revision: revision, terms: terms, now: epoch0,
			owner: map[string]string{}}
		for range 150 {
			steps := []func(){m.create, m.create, m.claim, m.claim, m.claim, m.delete, m.begin, m.assign, m.release, m.expire}
			steps[m.random.IntN(len(steps))]()
			strays, err := s.Strays(t.Context(), project)
			if err != nil || len(strays) > 0 {
				t.Fatal("the waiting set is wrong about:", strays, err)
			}
		}
		if m.refusals == 0 || m.claims == 0 || m.releases == 0 {
			t.Errorf("too few steps: %d matches, %d refused, %d released", m.claims, m.refusals, m.releases)
		}
	})
}

// model has the owner of each ticket: "" when it waits, else its match. It has no entry for a deleted ticket.
type model struct {
	t        *testing.T
	store    *state.Store
	random   *rand.Rand
	revision int64
	terms    state.ClaimOptions
	now      time.Time

	tickets                    []string
	owner                      map[string]string
	matches                    []*state.Claim // that need a server
	n                          int
	claims, refusals, releases int
}

func (m *model) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *model) name(kind string) string {
	m.n++
	return fmt.Sprint(kind, m.n)
}

func (m *model) create() {
	c := m.store.At(m.now).Creator(nil)
	for range 4 {
		id := m.name("t")
		body := ticket(id, 0)
		body.Created = m.now.UnixMilli()
		m.must(c.Create(m.t.Context(), project, body))
		m.tickets = append(m.tickets, id)
		m.owner[id] = ""
	}
}

// claim claims some matches at once. Some of their tickets wait, some do not, some are deleted, and some are in several
// of the matches.
func (m *model) claim() {
	var claims []*state.Claim
	for range 1 + m.random.IntN(4) {
		ids := []string{"nobody"}
		for range 2 + m.random.IntN(2) {
			if len(m.tickets) > 0 {
				ids = append(ids, m.tickets[max(0, len(m.tickets)-1-m.random.IntN(8))])
			}
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		if m.random.IntN(8) > 0 {
			ids = slices.DeleteFunc(ids, func(id string) bool { return id == "nobody" })
		}
		if len(ids) == 0 {
			return
		}
		kind := claim
		if m.random.IntN(2) == 0 {
			kind = func(revision int64, match string, tickets ...string) *state.Claim {
				return direct(revision, match, "1.2.3.4:5", tickets...)
			}
		}
		revision := m.revision
		if m.random.IntN(8) == 0 {
			revision++ // as if the config was changed
		}
		claims = append(claims, kind(revision, m.name("m"), ids...))
	}
	m.must(m.store.ForgetCredit(m.t.Context(), project)) // here matches end because no allocator takes them up
	m.terms.Claim, m.terms.Readable = 10*time.Second, 20*time.Second
	_, err := m.store.At(m.now).Claim(m.t.Context(), project, m.terms, claims)
	m.must(err)
	for _, c := range claims {
		free := c.Match.GetRevision() == m.revision
		for _, id := range c.Tickets {
			if owner, there := m.owner[id]; !there || owner != "" {
				free = false
			}
		}
		if free != (c.Refusal == "") {
			m.t.Fatalf("match %v: refusal %q, want that it can be claimed: %v", c.Tickets, c.Refusal, free)
		}
		if !free {
			m.refusals++
			continue
		}
		m.claims++
		for _, id := range c.Tickets {
			m.owner[id] = c.Match.GetId()
		}
		if c.Assignments == nil {
			m.matches = append(m.matches, c)
		}
	}
}

func (m *model) delete() {
	if len(m.tickets) == 0 {
		return
	}
	id := m.tickets[m.random.IntN(len(m.tickets))]
	_, err := m.store.At(m.now).DeleteTicket(m.t.Context(), project, id, "")
	if problem.KindOf(err) != problem.NotFound {
		m.must(err)
	}
	delete(m.owner, id)
}

// match picks a match that needs a server, and counts its tickets that still exist.
func (m *model) match() (c *state.Claim, there int) {
	if len(m.matches) == 0 {
		return nil, 0
	}
	c = m.matches[m.random.IntN(len(m.matches))]
	for _, id := range c.Tickets {
		if m.owner[id] == c.Match.GetId() {
			there++
		}
	}
	return c, there
}

func (m *model) free(c *state.Claim) {
	for _, id := range c.Tickets {
		if m.owner[id] == c.Match.GetId() {
			m.owner[id] = ""
		}
	}
}

func (m *model) begin() {
	if c, _ := m.match(); c != nil {
		status, _, err := take(m.t.Context(), m.store, c.Match, m.now, m.now.Add(10*time.Second))
		m.must(err)
		if status == state.MatchDropped {
			m.free(c)
		}
	}
}

func (m *model) assign() {
	c, _ := m.match()
	if c == nil {
		return
	}
	results := map[string]*pb.Assignment{}
	for _, id := range c.Tickets {
		results[id] = &pb.Assignment{Connection: "1.2.3.4:5"}
	}
	_, _, err := m.store.At(m.now).Assign(m.t.Context(), project, c.Match, state.Outcome{Holder: "one",
		Readable: 20 * time.Second}, results)
	m.must(err)
}

func (m *model) release() {
	m.now = m.now.Add(6 * time.Second)
	released, _, err := m.store.At(m.now).ReleaseOverdueMatches(m.t.Context(), project, 3)
	m.must(err)
	m.releases += len(released)
	for _, c := range m.matches {
		if slices.Contains(released, c.Match.GetId()) {
			m.free(c)
		}
	}
}

// expire deletes tickets that have waited for a minute, and results after their expiry.
func (m *model) expire() {
	m.now = m.now.Add(3 * time.Second)
	_, err := m.store.At(m.now).Expire(m.t.Context(), project, 30*time.Second, time.Minute, 3)
	m.must(err)
	for id := range m.owner {
		_, err := m.store.Ticket(m.t.Context(), project, id)
		if problem.KindOf(err) == problem.NotFound {
			delete(m.owner, id)
			continue
		}
		m.must(err)
	}
}

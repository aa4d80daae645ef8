package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// claimTickets is the most tickets that one script of several matches handles, unless a single match has more. A script
// of this size occupies Redis for about 2 ms.
const claimTickets = 512

// ErrLeaseLost is the answer to a director whose lease has passed to another.
var ErrLeaseLost = errors.New("state: the lease has passed to another director")

// Claim asks for one match's tickets, all or nothing.
type Claim struct {
	Match *pb.Match
	// Tickets are the match's tickets.
	Tickets []string
	// Function proposed the match, and Upload says which upload of it; 0 if that is not known. Events tell it.
	Function string
	Upload   int64
	// Queue is the queue of the match's config. Measures, Attributes and Parties say how good the match is. Events tell
	// all of this, and it is not stored.
	Queue      string
	Measures   []*pb.EventMeasure
	Attributes []*pb.EventAttribute
	Parties    []uint32
	// Values has the attribute Valued of each ticket; used only in reports.
	Values []float32
	Valued string
	// Canary marks matches of a canary upload; used only in reports.
	Canary int64
	// Assignments is nil when the match has a place, or its players are asked first. Otherwise it has the result of each
	// ticket, which is written at once.
	Assignments []*pb.Assignment
	// Refusal is set by Store.Claim: "" when the match was claimed, "config" when its config was changed or deleted,
	// "full" when the project has too many claimed matches, or its backfill tickets, the tickets that go to one, or the
	// results would be too many or too large, "hosting" when it has no servers for more matches, "target" when hosting has
	// given no server yet for the proposal's target, and others like it have to wait, "backfill" when its backfill ticket
	// was changed or deleted, "players" when one of them is in two of its tickets or in the game, else the id of a ticket
	// that no longer waits, or whose match is known already.
	Refusal string
}

// event returns the event of a successful claim.
func (c *Claim) event(epoch uint64) *pb.Event {
	e := matchEvent(c.Match, pb.Event_KIND_CLAIMED)
	e.Epoch, e.Acceptance, e.Place = epoch, c.Match.GetAcceptance(), c.Match.GetPlace()
	e.Backfill = cmp.Or(e.GetBackfill(), c.Match.GetBackfill())
	if c.Assignments != nil {
		e.Kind = pb.Event_KIND_ASSIGNED
		if failure := c.Match.GetProposal().GetError(); failure != "" {
			e.Kind, e.Error, e.Reason = pb.Event_KIND_FAILED, failure, "function"
		}
	}
	c.describe(e)
	return e
}

// describe adds the match's description to its first event.
func (c *Claim) describe(e *pb.Event) {
	p := c.Match.GetProposal()
	e.Function, e.Upload, e.Score, e.Players = c.Function, c.Upload, p.GetScore(), p.GetPlayers()
	e.Teams = eventTeams(p.GetTeams())
	e.Queue, e.Region = c.Queue, p.GetHosting().GetRegion()
	e.Measures, e.Attributes, e.Parties = c.Measures, c.Attributes, c.Parties
}

// Limits of the teams in an event: functions make them.
const (
	maxEventTeams = 32
	maxTeamName   = 64
)

// eventTeams returns the teams for an event; nil if there is nothing to report.
func eventTeams(teams []*pb.Team) []*pb.EventTeam {
	if len(teams) == 1 && teams[0].GetName() == "" || len(teams) > maxEventTeams {
		return nil
	}
	told := make([]*pb.EventTeam, len(teams))
	for i, t := range teams {
		told[i] = &pb.EventTeam{Name: TeamName(t.GetName()), Tickets: int32(len(t.GetTickets()))}
	}
	return told
}

// encodeAssignments marshals the results to write at once. It returns one when all tickets have the same.
func (c *Claim) encodeAssignments(o outcome) ([][]byte, error) {
	results := o.referAll(c.Assignments)
	if !slices.ContainsFunc(results, func(a *pb.Assignment) bool { return a != results[0] }) {
		results = results[:min(1, len(results))]
	}
	bodies := make([][]byte, len(results))
	for i, a := range results {
		var err error
		if bodies[i], err = proto.Marshal(a); err != nil {
			return nil, corrupt("assignment", err)
		}
	}
	return bodies, nil
}

// ClaimOptions are the conditions of a batch of claims.
type ClaimOptions struct {
	Epoch uint64
	// Claim is the time after which claimed tickets wait again unless the allocation began.
	Claim time.Duration
	// Matches is the most matches of the project that may be claimed and have no result yet; 0 means no limit.
	Matches int
	// Readable is how long results that are written at once stay readable.
	Readable time.Duration
	// Approval is how long servers may approve tickets that are proposed to them.
	Approval time.Duration
}

// claimBytes is the most bytes that a script of several matches writes, unless a single match has more.
const claimBytes = 1 << 20

// batchesOf divides matches into batches of one script each, with no more than claimTickets tickets and claimBytes
// bytes unless a single match has more.
func batchesOf[M any](matches []M, size func(M) (tickets, bytes int)) iter.Seq[[]M] {
	return func(yield func([]M) bool) {
		for rest := matches; len(rest) > 0; {
			n, tickets, bytes := 0, 0, 0
			for n < len(rest) {
				moreTickets, moreBytes := size(rest[n])
				if n > 0 && (tickets+moreTickets > claimTickets || bytes+moreBytes > claimBytes) {
					break
				}
				n, tickets, bytes = n+1, tickets+moreTickets, bytes+moreBytes
			}
			if !yield(rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// runBatches runs one script for each batch of matches, in one round trip. It calls each for the matches in their
// order, with the feed's position and the match's values; nil when they are not known. It returns the first error.
func runBatches[M any](
	ctx context.Context, s *Store, project string, matches []M, values int, size func(M) (tickets, bytes int),
	prepare func([]M) (call, error), each func(m M, at uint64, said []any) error,
) error {
	var calls []call
	var batches [][]M
	for batch := range batchesOf(matches, size) {
		c, err := prepare(batch)
		if err != nil {
			return err
		}
		calls, batches = append(calls, c), append(batches, batch)
	}
	replies, err := s.runAll(ctx, project, calls)
	for i, reply := range replies {
		var at uint64
		var rest []any
		failed := parseReply(reply, &at, &rest)
		if failed == nil && len(rest) != values*len(batches[i]) {
			failed = fmt.Errorf("state: %d values for %d matches", len(rest), len(batches[i]))
		}
		if err = cmp.Or(err, failed); failed != nil {
			at, rest = 0, nil
		}
		for j, m := range batches[i] {
			var said []any
			if failed == nil {
				said = rest[j*values : (j+1)*values]
			}
			err = cmp.Or(err, each(m, at, said))
		}
	}
	return err
}

// Claim claims the matches in order, and sets each one's Refusal. It returns the feed's position after the last change.
// ErrLeaseLost means that the remaining matches were not claimed.
func (s *Store) Claim(
	ctx context.Context, project string, terms ClaimOptions, claims []*Claim,
) (position uint64, err error) {
	if err := s.inherit(ctx, keysOf(project), claims); err != nil {
		return 0, err
	}
	told := make([]toldClaim, len(claims))
	for i, c := range claims {
		told[i] = toldClaim{c, s.encodeEvent(c.event(terms.Epoch))}
	}
	err = runBatches(ctx, s, project, told, 1, func(c toldClaim) (tickets, bytes int) {
		// The events of a script come in one message of the bus: they have half of claimBytes at most.
		return len(c.Tickets), outcomeSize(c.Match.GetProposal()) + 2*len(c.event)
	}, func(batch []toldClaim) (call, error) { return s.claimCall(project, terms, batch) },
		func(c toldClaim, at uint64, said []any) error {
			verdict := "ok"
			if position = max(position, at); said == nil {
				return nil
			}
			err := parseReply(said, &verdict)
			if verdict != "ok" {
				c.Refusal = cmp.Or(verdict, unreadable)
			}
			return err
		})
	if isStale(err) {
		return position, ErrLeaseLost
	}
	return position, err
}

// toldClaim is a claim with its event.
type toldClaim struct {
	*Claim
	event []byte
}

// unreadable is the refusal of a claim that is missing in the reply: it is not known to be claimed.
const unreadable = "unreadable"

func (s *Store) claimCall(project string, terms ClaimOptions, claims []toldClaim) (call, error) {
	k := keysOf(project)
	c := s.call("match_claim", k, ids{},
		"epoch", terms.Epoch,
		"claim_time", terms.Claim.Milliseconds(),
		"approval_time", terms.Approval.Milliseconds(),
		"readable", terms.Readable.Milliseconds(),
		"max_matches", terms.Matches,
		"bytes_limit", s.limits.TicketMemory<<20,
		"max_backfills", s.limits.Backfills,
		"backfill_bytes", s.limits.BackfillMemory<<20,
		"match_count", len(claims))
	for _, claim := range claims {
		var body []byte
		var target string
		if claim.Assignments == nil {
			target = neededTarget(claim.Match)
			var err error
			if body, err = proto.Marshal(claim.Match); err != nil {
				return call{}, corrupt("match", err)
			}
		}
		m := claim.Match
		c.keys = append(c.keys, k.match(m.GetId()), k.outcome(m.GetId()))
		c.addKeys(k.ticket, claim.Tickets)
		c.keys = append(c.keys, placeKeys(k, m)...)
		var awaits string
		var err error
		if claim.Assignments != nil {
			if awaits, err = s.awaitsOf(m, m.GetProposal().GetConnection()); err != nil {
				return call{}, err
			}
		}
		c.keys = append(c.keys, awaitedKeys(k, m, awaits)...)
		shared, err := outcomeOf(m.GetId(), m.GetProposal())
		if err != nil {
			return call{}, err
		}
		bodies, err := claim.encodeAssignments(shared)
		if err != nil {
			return call{}, err
		}
		size := len(shared.body)
		if claim.Assignments == nil {
			shared.body = nil // it is written with the results
		}
		c.args = append(c.args, m.GetId(), m.GetConfig(), m.GetRevision(), len(claim.Tickets),
			strings.Join(claim.Tickets, " "), claim.event, body, target,
			acceptanceOf(m), size, shared.body, flag(m.GetProposal().GetCompare()), placeOf(m), awaits, len(bodies))
		for _, assignment := range bodies {
			c.args = append(c.args, assignment)
		}
		game, err := gameFields(m)
		if err != nil {
			return call{}, err
		}
		c.args = append(c.args, game...)
	}
	return c, nil
}

// startedWithField and belongsToField are STARTED_WITH and BELONGS_TO of script/include/names.lua.
const startedWithField, belongsToField = "f", "o"

// maxStartedWith is the most bytes of match properties that a game keeps for joining players.
const maxStartedWith = 16 << 10

// startedWith returns the match properties that a game keeps for joining players.
func startedWith(p *pb.Proposal) []byte {
	if len(p.GetMatchProperties()) > maxStartedWith {
		return nil
	}
	return p.GetMatchProperties()
}

// inherit gives claims for running games the match properties that the game was started with, unless their functions
// give joining players match properties of their own, or the older properties for all.
func (s *Store) inherit(ctx context.Context, k keys, claims []*Claim) error {
	claims = slices.DeleteFunc(slices.Clone(claims), func(c *Claim) bool {
		return gameOf(c.Match) == "" || saysProperties(c.Match.GetProposal()) && c.Match.GetAwaited() == nil
	})
	if len(claims) == 0 {
		return nil
	}
	games, err := forEach(ctx, s.redis, claims, func(p redis.Pipeliner, c *Claim) *redis.SliceCmd {
		return p.HMGet(ctx, k.backfill(gameOf(c.Match)), startedWithField, belongsToField)
	})
	if err != nil {
		return err
	}
	var in replied
	for i, c := range claims {
		row := in.row(games[i])
		if properties, ok := row[0].(string); ok && !saysProperties(c.Match.GetProposal()) {
			c.Match.Proposal = proto.CloneOf(c.Match.GetProposal())
			c.Match.Proposal.MatchProperties = []byte(properties)
		}
		game, _ := row[1].(string)
		if awaited := c.Match.GetAwaited(); game == "" {
			c.Match.Awaited = nil // no server reports for a game that no match began
		} else if awaited != nil {
			awaited.Match = game
		}
	}
	return in.err
}

// saysProperties reports whether a proposal gives joining players match properties, or the older properties for all.
func saysProperties(p *pb.Proposal) bool {
	return len(p.GetMatchProperties()) > 0 || len(p.GetAssignmentProperties()) > 0 && len(p.GetTicketProperties()) == 0
}

// isStale reports whether a claim was refused because another director has the lease.
func isStale(err error) bool { return err != nil && strings.Contains(err.Error(), "STALE ") }

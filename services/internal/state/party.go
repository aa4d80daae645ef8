package state

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// PartyLimits bound the parties of a project.
type PartyLimits struct {
	// Parties is the most parties of the project.
	Parties int
	// Silence is how long a member may be silent.
	Silence time.Duration
	// OnlySilent refuses a change by which a member leaves that was heard of in that time.
	OnlySilent bool
}

// MaxPartySize is the most bytes of a party: a ticket of all its members stays below the limit of a body.
const MaxPartySize = 48 << 10

// ErrCodeTaken means that the code of a party is another party's.
var ErrCodeTaken = errors.New("the code is another party's")

// ErrHeard means that a silent member that was to leave has been heard of.
var ErrHeard = errors.New("the member was heard of")

// CreateParty stores a party, and gives it its revision. Its members join it. Errors: Conflict when one is in a party
// already; Limited when there are too many parties; Unavailable when Redis is short of memory; ErrCodeTaken.
func (s *Store) CreateParty(ctx context.Context, project string, p *pb.Party, l PartyLimits) error {
	if err := s.addProject(ctx, project); err != nil {
		return err
	}
	p.Revision = s.revisionAfter(0)
	_, err := s.putParty(ctx, project, nil, p, l, Leaving{})
	if errors.Is(err, errOtherParty) {
		return problem.New(problem.Conflict, "there is a party of this id")
	}
	return err
}

// revisionAfter returns the revision of a party that has another one now. It is the time, as settings_put.lua says.
func (s *Store) revisionAfter(now int64) int64 { return max(s.Now().UnixMilli(), now+1) }

// EndedSearch is the search that a change of a party ended.
type EndedSearch struct {
	// Ticket is the ticket of the search, "" for none.
	Ticket string
	// Declined: that ended the acceptance of its match. EndAcceptances does the rest.
	Declined bool
}

// ChangeParty reads a party, calls change with a copy of it, and writes the result with the next revision. When another
// caller wrote it meanwhile, it starts again. change returns nil to delete the party. It may return the party as it
// was: then nothing is written. If the result does not name the party's search, that ends in the same step, unless it
// has its result: by is the player that leaves it. Errors: the error of change, NotFound, ErrHeard, the errors of
// CreateParty but ErrCodeTaken, and Conflict when a player would join while a match asks the players of the search.
// After an error nothing has changed.
func (s *Store) ChangeParty(
	ctx context.Context, project, id string, l PartyLimits, by Leaving, change func(*pb.Party) (*pb.Party, error),
) (*pb.Party, EndedSearch, error) {
	for {
		before, err := s.Party(ctx, project, id)
		if err != nil {
			return nil, EndedSearch{}, err
		}
		after, err := change(proto.CloneOf(before))
		if err != nil || proto.Equal(before, after) {
			return after, EndedSearch{}, err
		}
		if after != nil {
			after.Revision = s.revisionAfter(before.GetRevision())
		}
		ended, err := s.putParty(ctx, project, before, after, l, by)
		if errors.Is(err, errOtherParty) || errors.Is(err, ErrCodeTaken) {
			continue
		}
		return after, ended, err
	}
}

// putParty writes a party, and ends the search that it does not name any more. Errors: errOtherParty when the stored
// party differs from before.
func (s *Store) putParty(
	ctx context.Context, project string, before, after *pb.Party, l PartyLimits, by Leaving,
) (ended EndedSearch, err error) {
	joined, left := partyDifference(before, after), partyDifference(after, before)
	var body []byte
	if after != nil {
		if body, err = partyBody(after, len(left) > 0); err != nil {
			return ended, err
		}
	}
	k, id, read := keysOf(project), cmp.Or(before.GetId(), after.GetId()), ""
	if before != nil {
		read = strconv.FormatInt(before.GetRevision(), 10)
	}
	search := before.GetSearch().GetTicket()
	if after.GetSearch().GetTicket() == search {
		search = ""
	}
	var match string
	var pauses Pauses
	for range maxAttempts {
		c := s.call("party_put", k, ids{ofParty: id, ofTicket: search, ofMatch: match},
			"id", id,
			"read", read,
			"next_revision", after.GetRevision(),
			"body", body,
			"silence", l.Silence.Milliseconds(),
			"only_silent", l.OnlySilent,
			"limit", l.Parties,
			"may_create", s.mayAdd(ctx, k),
			"old_code", before.GetCode(),
			"new_code", after.GetCode(),
			"ticket_id", search,
			"match_id", match,
			"leaver", by.By,
			"by_service", flag(by.Service),
			"told_time", by.Readable.Milliseconds(),
			"event", s.cancelled(""),
			"first_pause", pauses.First.Milliseconds(),
			"longest_pause", pauses.Longest.Milliseconds(),
			"pause_limit", PausedPlayers,
			"missing", strings.Join(by.Decline, "\n"),
			"joined", len(joined))
		c.addArgs(slices.Concat(joined, left))
		var verdict, asks string
		var searchEnded bool
		if err := s.eval(ctx, c, &verdict, &searchEnded, &ended.Declined, &asks); err != nil {
			return ended, err
		}
		switch verdict {
		case "again":
			match = asks
			if pauses, err = s.pausesOf(ctx, project); err != nil {
				return ended, err
			}
		case "ok":
			if searchEnded {
				ended.Ticket = search
			}
			return ended, nil
		default:
			return ended, partyRefusal(verdict, l)
		}
	}
	return ended, busyTicket()
}

// partyRefusal is the error of a verdict of party_put.lua.
func partyRefusal(verdict string, l PartyLimits) error {
	if player, is := strings.CutPrefix(verdict, "@"); is {
		return problem.New(problem.AlreadyInParty, "player %q is in a party already, and must leave it first", player)
	}
	switch verdict {
	case "changed":
		return errOtherParty
	case "short":
		return shortOfMemory(nil)
	case "code":
		return ErrCodeTaken
	case "heard":
		return ErrHeard
	case "asked":
		return problem.New(problem.AcceptanceOpen, "a match asks the players of the party whether they accept it: join "+
			"when they have answered")
	default:
		e := problem.New(problem.TooManyParties, "the project has %d parties, the most it may have", l.Parties)
		e.RetryAfter, e.Limit = Spread(drainDelay), &problem.Limit{Name: "parties", Amount: l.Parties}
		return e
	}
}

// partyBody returns the stored form of a party. Errors: Invalid when it is too large, unless members leave it: the next
// leader may have a longer name.
func partyBody(p *pb.Party, leave bool) ([]byte, error) {
	body, err := proto.Marshal(p)
	if err != nil {
		return nil, problem.Wrap(problem.Invalid, err, "the party holds text that is not UTF-8")
	}
	if len(body) > MaxPartySize && !leave {
		return nil, problem.New(problem.Invalid,
			"the party would have %d bytes with the attributes and properties of all members, at most %d are allowed",
			len(body), MaxPartySize).Exceeds("party-size")
	}
	return body, nil
}

// partyDifference lists the members of b that a has not.
func partyDifference(a, b *pb.Party) []string {
	var players []string
	for _, m := range b.GetMembers() {
		if MemberOf(a, m.GetPlayer()) == nil {
			players = append(players, m.GetPlayer())
		}
	}
	return players
}

// MemberOf is a player's membership; nil when the player is no member.
func MemberOf(p *pb.Party, player string) *pb.Member {
	for _, m := range p.GetMembers() {
		if m.GetPlayer() == player {
			return m
		}
	}
	return nil
}

// Party reads a party. Errors: NotFound.
func (s *Store) Party(ctx context.Context, project, id string) (*pb.Party, error) {
	p, err := readMessage[pb.Party](ctx, s, project, keysOf(project).party(id), "b", "party")
	if p == nil && err == nil {
		err = problem.New(problem.PartyNotFound, "party %q was not found", id)
	}
	return p, err
}

// PartyOf returns the id of the party that a player is in, "" for none.
func (s *Store) PartyOf(ctx context.Context, project, player string) (string, error) {
	return s.textIn(ctx, project, keysOf(project).partyPlayers(), player)
}

// PartyWith returns the id of the party that a code lets players join, "" for none.
func (s *Store) PartyWith(ctx context.Context, project, code string) (string, error) {
	return s.textIn(ctx, project, keysOf(project).partyCodes(), code)
}

// HearOfMember notes that a member of a party was heard of, at most once every so often. It is false when the player is
// no member.
func (s *Store) HearOfMember(
	ctx context.Context, project, party, player string, every time.Duration,
) (member bool, err error) {
	err = s.evalShared(ctx, project, s.call("party_hear", keysOf(project), ids{ofParty: party},
		"player", player,
		"every", every.Milliseconds()), &member)
	return member, err
}

// SilentMembers are a party's members that were not heard of for too long.
type SilentMembers struct {
	Party   string
	Players []string
}

// The most parties that SweepParties reads in one call, and when it reads a party with silent members again.
const (
	sweptParties = 64
	silentAgain  = time.Second
)

// SweepParties looks for members that were silent for too long, and returns how many parties there are. It must be
// called more often than gap: after a longer pause no member is silent for as long as members may be.
func (s *Store) SweepParties(
	ctx context.Context, project string, silence, gap time.Duration,
) (parties int64, silent []SilentMembers, err error) {
	k := keysOf(project)
	var due []string
	if err := s.eval(ctx, s.call("party_sweep", k, ids{},
		"silence", silence.Milliseconds(),
		"gap", gap.Milliseconds(),
		"count", sweptParties), &parties, &due); err != nil {
		return 0, nil, err
	}
	found, err := stepAbreast(due, func(id string) (one SilentMembers, err error) {
		one.Party = id
		err = s.eval(ctx, s.call("party_silent", k, ids{ofParty: id},
			"id", id,
			"silence", silence.Milliseconds(),
			"again", silentAgain.Milliseconds()), &one.Players)
		return one, err
	})
	silent = slices.DeleteFunc(found, func(one SilentMembers) bool { return len(one.Players) == 0 })
	return parties, silent, err
}

// FindParties lists the projects that have parties.
func (s *Store) FindParties(ctx context.Context) ([]string, error) {
	return s.allHaving(ctx, keys.parties)
}

// allHaving returns all projects that have a key.
func (s *Store) allHaving(ctx context.Context, key func(keys) string) ([]string, error) {
	projects, err := s.Projects(ctx)
	if err != nil {
		return nil, err
	}
	return s.having(ctx, projects, key)
}

// having returns the projects that have a key.
func (s *Store) having(ctx context.Context, projects []string, key func(keys) string) (have []string, err error) {
	found, err := forEach(ctx, s.redis, projects, func(p redis.Pipeliner, project string) *redis.IntCmd {
		return p.Exists(ctx, key(keysOf(project)))
	})
	if err != nil {
		return nil, err
	}
	for i, project := range projects {
		if found[i].Val() > 0 {
			have = append(have, project)
		}
	}
	return have, nil
}

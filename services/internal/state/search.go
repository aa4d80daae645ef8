package state

import (
	"cmp"
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// partyWrite is a party that is written together with the ticket of its search. The zero one is none.
type partyWrite struct {
	id, read string
	revision int64
	body     []byte
	// noted is the least time between two notes that a member was heard of.
	noted time.Duration
}

// errOtherParty means that a party is not what the caller read.
var errOtherParty = errors.New("the party was changed")

// StartSearch creates the ticket of a party's search, and writes the party with it, whose revision is the one that was
// read. settings are the project's settings by which it was decided. changed is true when the party or the project has
// other ones by now: nothing was done then. ended are the tickets that the search replaced. Errors: as of
// Creator.CreateAs, but that the party may be too large (Invalid), and a member may have missed a match and not been
// heard of since (Conflict): that is noted again after a time. Results are readable for as long.
func (s *Store) StartSearch(
	ctx context.Context, project string, p *pb.Party, t *pb.Ticket, settings *pb.ProjectSettings,
	readable, noted time.Duration,
) (changed bool, position uint64, ended []string, err error) {
	if err := s.HasMemory(ctx, project); err != nil {
		return false, 0, nil, err
	}
	if err := s.keepListed(ctx, project); err != nil {
		return false, 0, nil, err
	}
	read := p.GetRevision()
	p.Revision++
	one, err := newCreation(CreationOf(t, settings, readable))
	if err != nil {
		return false, 0, nil, err
	}
	one.party = partyWrite{id: p.GetId(), read: strconv.FormatInt(read, 10), revision: p.GetRevision(),
		noted: noted}
	if one.party.body, err = partyBody(p); err != nil {
		return false, 0, nil, err
	}
	for {
		position, verdicts, err := s.create(ctx, project, []*creation{one})
		if errors.Is(err, errOtherParty) || errors.Is(err, ErrOtherSettings) {
			return true, 0, nil, nil
		}
		v, said := verdicts[0]
		switch {
		case err != nil || !said || v.reason == "":
			return false, position, nil, err
		case v.reason == "ended":
			return false, position, strings.Fields(v.value), nil
		case v.reason != "older":
			if v.reason == "unserved" {
				served, err := s.ServedQueues(ctx, project)
				return false, position, nil, cmp.Or(err, unservedError(strings.Fields(v.value), served))
			}
			return false, position, nil, s.refusal(one, v)
		}
		if err := one.mayLook(); err != nil {
			return false, 0, nil, err
		}
		if err := s.lookAt(ctx, project, map[*creation][]string{one: strings.Fields(v.value)}); err != nil {
			return false, 0, nil, err
		}
	}
}

package state

import (
	"context"
	"errors"
	"strconv"
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
	p.Revision = s.revisionAfter(read)
	one, err := newCreation(Creation{Ticket: t, Settings: settings, Readable: readable})
	if err != nil {
		return false, 0, nil, err
	}
	one.party = partyWrite{id: p.GetId(), read: strconv.FormatInt(read, 10), revision: p.GetRevision(),
		noted: noted}
	if one.party.body, err = partyBody(p, false); err != nil {
		return false, 0, nil, err
	}
	for batch := []*creation{one}; ; {
		position, verdicts, err := s.create(ctx, project, batch)
		if errors.Is(err, errOtherParty) || errors.Is(err, ErrOtherSettings) {
			return true, 0, nil, nil
		}
		if again := s.lookAt(ctx, project, s.answer(ctx, project, batch, verdicts, err)); len(again) == 0 {
			result := <-one.done
			return false, position, result.Ended, result.err
		}
	}
}

package state

import (
	"context"
	"errors"
	"strconv"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/problem"
)

// partyWrite is a party that is written together with the ticket of its search. The zero one is none.
type partyWrite struct {
	id, read string
	revision int64
	body     []byte
}

// errOtherParty means that a party is not what the caller read.
var errOtherParty = errors.New("the party was changed")

// StartSearch creates the ticket of a party's search, and writes the party with it, whose revision is the one that was
// read. settings is the revision of the project's settings by which it was decided. It is true when the party or the
// project has another one by now: nothing was done then. Errors: as of Creator.Create, but that
// the party may be too large (Invalid).
func (s *Store) StartSearch(
	ctx context.Context, project string, p *pb.Party, t *pb.Ticket, settings int64,
) (changed bool, position uint64, err error) {
	if err := s.HasMemory(ctx, project); err != nil {
		return false, 0, err
	}
	if err := s.keepListed(ctx, project); err != nil {
		return false, 0, err
	}
	read := p.GetRevision()
	p.Revision++
	body, err := proto.Marshal(t)
	if err != nil {
		return false, 0, problem.Wrap(problem.Invalid, err, "the ticket holds text that is not UTF-8")
	}
	one := newCreation(Creation{Ticket: t, Settings: settings}, body)
	one.party = partyWrite{id: p.GetId(), read: strconv.FormatInt(read, 10), revision: p.GetRevision()}
	if one.party.body, err = partyBody(p); err != nil {
		return false, 0, err
	}
	position, refusals, err := s.create(ctx, project, []*creation{one})
	if errors.Is(err, errOtherParty) || errors.Is(err, ErrOtherSettings) {
		return true, 0, nil
	}
	if err == nil {
		err = refusals[0]
	}
	return false, position, err
}

package state

import (
	"bytes"
	"context"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// outcome is the common part of the results of a match, when it is large. It is stored once, and the results name it:
// so a match of 1,000 tickets is written in one short step, and takes no more memory than its proposal.
type outcome struct {
	id     string
	shared *pb.Assignment // nil when it is not large
	body   []byte
}

// sharedBy returns the common part of all results of a proposal, see package assignment.
func sharedBy(p *pb.Proposal) *pb.Assignment {
	if len(p.GetTicketProperties()) == 0 && len(p.GetMatchProperties()) == 0 {
		return &pb.Assignment{Properties: p.GetAssignmentProperties()}
	}
	return &pb.Assignment{MatchProperties: p.GetMatchProperties()}
}

// outcomeSize is about how many bytes the outcome of a proposal has, 0 when it is not large.
func outcomeSize(p *pb.Proposal) int {
	size := len(p.GetMatchProperties())
	if size == 0 && len(p.GetTicketProperties()) == 0 {
		size = len(p.GetAssignmentProperties())
	}
	if size <= largeSize {
		return 0
	}
	return size
}

// outcomeOf makes the outcome of a match.
func outcomeOf(id string, p *pb.Proposal) (o outcome, err error) {
	if outcomeSize(p) == 0 {
		return o, nil
	}
	o = outcome{id: id, shared: sharedBy(p)}
	if o.body, err = proto.Marshal(o.shared); err != nil {
		return o, corrupt("outcome", err)
	}
	return o, nil
}

// refer returns the result as it is stored: it names the outcome instead of the common part.
func (o outcome) refer(a *pb.Assignment) *pb.Assignment {
	if o.shared == nil || a == nil {
		return a
	}
	own := copyOf(a)
	own.Outcome = o.id
	if bytes.Equal(own.GetProperties(), o.shared.GetProperties()) {
		own.Properties = nil
	}
	if bytes.Equal(own.GetMatchProperties(), o.shared.GetMatchProperties()) {
		own.MatchProperties = nil
	}
	return own
}

// copyOf returns a copy of a result with all its fields, also unknown ones. Both share large values.
func copyOf(a *pb.Assignment) *pb.Assignment {
	own := new(pb.Assignment)
	from, to := a.ProtoReflect(), own.ProtoReflect()
	from.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		to.Set(field, value)
		return true
	})
	to.SetUnknown(from.GetUnknown())
	return own
}

// referAll returns all results as they are stored. Equal pointers stay equal.
func (o outcome) referAll(all []*pb.Assignment) []*pb.Assignment {
	if o.shared == nil {
		return all
	}
	stored := make([]*pb.Assignment, len(all))
	for i, a := range all {
		if i > 0 && a == all[i-1] {
			stored[i] = stored[i-1]
			continue
		}
		stored[i] = o.refer(a)
	}
	return stored
}

// resolve adds the outcome to a result. It returns false when the outcome is not stored any more: neither is the
// result.
func (s *Store) resolve(ctx context.Context, project string, a *pb.Assignment) (found bool, err error) {
	if a.GetOutcome() == "" {
		return true, nil
	}
	shared, err := readMessage[pb.Assignment](ctx, s, project, keysOf(project).outcome(a.GetOutcome()), "b", "outcome")
	if err != nil || shared == nil {
		return false, err
	}
	a.Outcome = ""
	if len(a.GetProperties()) == 0 {
		a.Properties = shared.GetProperties()
	}
	if len(a.GetMatchProperties()) == 0 {
		a.MatchProperties = shared.GetMatchProperties()
	}
	return true, nil
}

// expireOutcomes deletes outcomes whose results can no longer be read.
func (s *Store) expireOutcomes(ctx context.Context, k keys, latest int64, limit int) (more bool, err error) {
	due, err := s.due(ctx, k.outcomes(), latest, limit)
	if err != nil || len(due) == 0 {
		return false, err
	}
	c := s.call("expire_outcomes", k, ids{})
	c.addEach(k.outcome, due)
	return len(due) == limit, s.eval(ctx, c)
}

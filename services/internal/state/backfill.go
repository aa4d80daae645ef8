package state

import (
	"context"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/fault"
)

// CreateBackfill stores a new backfill ticket, whose id and created are set, and sets its version.
func (s *Store) CreateBackfill(ctx context.Context, project string, b *pb.Backfill, now time.Time) error {
	return s.putBackfill(ctx, project, b, "new", now)
}

// ReplaceBackfill replaces what its server says of a backfill ticket, and sets its
// new version and its created. NotFound when there is none.
func (s *Store) ReplaceBackfill(ctx context.Context, project string, b *pb.Backfill, now time.Time) error {
	return s.putBackfill(ctx, project, b, "old", now)
}

func (s *Store) putBackfill(ctx context.Context, project string, b *pb.Backfill, mode string, now time.Time) error {
	body, err := proto.Marshal(b)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "the backfill ticket holds text that is not UTF-8")
	}
	k := keysOf(project)
	reply, err := s.run(ctx, backfillPutScript, []string{k.backfill(b.GetId()), k.backfills()},
		b.GetId(), mode, b.GetCreated(), millis(now), body)
	if err != nil {
		return err
	}
	r, err := listOf(reply, 2)
	if err != nil {
		return err
	}
	version, _ := r[0].(int64)
	created, _ := r[1].(int64)
	if version == 0 {
		return noBackfill(b.GetId())
	}
	b.Version, b.Created = version, created
	return nil
}

// TouchBackfill reads a backfill ticket for its server, and notes that the server
// lives. NotFound when there is none.
func (s *Store) TouchBackfill(ctx context.Context, project, id string, now time.Time) (*pb.Backfill, error) {
	k := keysOf(project)
	reply, err := s.run(ctx, backfillTouchScript, []string{k.backfill(id), k.backfills()}, id, millis(now))
	if err != nil {
		return nil, err
	}
	r, err := listOf(reply, 0)
	if err != nil {
		return nil, err
	}
	if len(r) < 3 {
		return nil, noBackfill(id)
	}
	b := new(pb.Backfill)
	body, _ := r[0].(string)
	if err := proto.Unmarshal([]byte(body), b); err != nil {
		return nil, corrupt("backfill ticket", err)
	}
	b.Version, _ = r[1].(int64)
	b.Created, _ = r[2].(int64)
	return b, nil
}

// DeleteBackfill deletes a backfill ticket, and tells whether it was there.
func (s *Store) DeleteBackfill(ctx context.Context, project, id string) (bool, error) {
	k := keysOf(project)
	reply, err := s.run(ctx, backfillDeleteScript, []string{k.backfill(id), k.backfills()}, id)
	return reply == int64(1), err
}

func noBackfill(id string) error {
	return fault.New(fault.NotFound, "backfill ticket %q was not found", id)
}

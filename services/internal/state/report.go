package state

import (
	"context"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// ReportKeep says which slots of a report are kept: slots from oldest on, for a time after the last was written.
type ReportKeep struct {
	// Span tells reports with slots of other lengths apart; empty for the shortest.
	Span   string
	Oldest int64
	For    time.Duration
}

// PutReport stores how good the matches of a slot were. Errors: ErrLeaseLost when the lease has another epoch.
func (s *Store) PutReport(
	ctx context.Context, project string, epoch uint64, slot int64, body proto.Message, keep ReportKeep,
) error {
	raw, err := proto.Marshal(body)
	if err != nil {
		return corrupt("report", err)
	}
	err = s.eval(ctx, s.call("report_put", keysOf(project), ids{ofSpan: keep.Span},
		"epoch", epoch,
		"slot", slot,
		"body", raw,
		"oldest", keep.Oldest,
		"keep", keep.For.Milliseconds()))
	if isStale(err) {
		return ErrLeaseLost
	}
	return err
}

// Report reads how good the matches of some slots of a span were, and how many bytes that has. Slots in which none was
// made are left out.
func (s *Store) Report(
	ctx context.Context, project, span string, slots []int64,
) (stored map[int64]*pb.ReportSlot, bytes int, err error) {
	if len(slots) == 0 {
		return nil, 0, nil
	}
	fields := make([]string, len(slots))
	for i, slot := range slots {
		fields[i] = strconv.FormatInt(slot, 10)
	}
	values, err := rowOf(s.redis.HMGet(ctx, keysOf(project).report(span), fields...))
	if err != nil {
		return nil, 0, err
	}
	stored = make(map[int64]*pb.ReportSlot, len(slots))
	for i, value := range values {
		body, is := value.(string)
		if !is {
			continue
		}
		if stored[slots[i]], err = parse[pb.ReportSlot]("report", body); err != nil {
			return nil, 0, err
		}
		bytes += len(body)
	}
	return stored, bytes, nil
}

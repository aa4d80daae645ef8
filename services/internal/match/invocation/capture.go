package invocation

import (
	"slices"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/capture"
)

// copyOf copies a request before the function gets it, which may write into it.
func copyOf(request []byte) ([]byte, error) {
	if len(request) > capture.MaxRaw {
		return nil, FunctionError{capture.ErrTooLarge}
	}
	return slices.Clone(request), nil
}

// capture sends a run that asks for it: the request, and the answer or why there is none.
func (e *encoder) capture(request, answer []byte, failure error) error {
	r := e.run.Request
	c := &pb.Capture{
		Config: r.GetConfig(), Function: r.GetFunction(), Time: r.GetNow(), Asked: askedOf(r), Request: request,
		Answer: answer,
	}
	if failure != nil {
		c.Answer, c.Error = nil, failure.Error()
	}
	for i := range e.selection.N() {
		c.Tickets = append(c.Tickets, e.selection.ID(i))
	}
	for _, b := range e.backfills.list {
		c.Backfills = append(c.Backfills, b.GetId())
	}
	packed, err := capture.Pack(c)
	if err != nil {
		return FunctionError{err}
	}
	for part := range slices.Chunk(packed, capture.PartSize) {
		if err := e.run.Answer(&pb.RunPart{Apart: true, Capture: part}); err != nil {
			return FunctionError{err}
		}
	}
	return nil
}

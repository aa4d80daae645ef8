package invocation

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/capture"
	"matchmaker.dev/services/internal/sandbox"
)

// A run that is captured can be repeated: the same request has the same answer. One that failed is captured, too.
func TestRunsAreCaptured(t *testing.T) {
	for name, failure := range map[string]error{"answered": nil, "failed": errors.New("no map")} {
		t.Run(name, func(t *testing.T) {
			function := matchfn.New(func(r *matchfn.Run) error {
				r.Propose(r.Attribute("skill")[1], 0, 1)
				r.Attribute("skill")[1] = -1 // a function may write into its request
				return failure
			})
			var packed []byte
			last, err := new(Invoker).Invoke(t.Context(), &Run{
				Request: &pb.RunRequest{Config: "c", Function: "f", Now: 9000, Pools: map[string]*pb.Pool{"all": {}},
					Explain: []string{"t1"}, Capture: true},
				Index: indexOf(t, 3, parties), Began: time.Now(), Deadline: time.Now().Add(time.Hour),
				Answer: func(p *pb.RunPart) error {
					packed = append(packed, p.GetCapture()...)
					return nil
				},
			}, native{Function: function}, NeedsOf(sandbox.Manifest{Attributes: []string{"skill"}}))
			if (err == nil) != (failure == nil) || len(last.GetPlaces()) != 1 || last.GetPlaces()[0] != 2 {
				t.Fatalf("%v, %v", last, err)
			}
			got, err := capture.Unpack(packed)
			if err != nil {
				t.Fatal(err)
			}
			if got.GetConfig() != "c" || got.GetFunction() != "f" || got.GetTime() != 9000 || len(got.GetTickets()) != 3 ||
				got.GetTickets()[2] != "t2" || len(got.GetAsked()) != 1 {
				t.Errorf("%+v", got)
			}
			again := function.Answer(bytes.Clone(got.GetRequest()))
			if !bytes.Equal(again, got.GetAnswer()) {
				t.Errorf("the answer is %q, and %q when it is repeated", got.GetAnswer(), again)
			}
			a, err := block.ParseAnswer(got.GetAnswer(), 3, 0)
			if err != nil || failure != nil && a.Failure != "no map" || failure == nil && a.Score(0) != 100 {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}

// Nothing is captured of other runs, and nothing that is too large.
func TestCapturesHaveALimit(t *testing.T) {
	index := indexOf(t, 3, func(i int) *pb.Ticket {
		one := parties(i)
		one.Properties = map[string][]byte{"p": make([]byte, capture.MaxRaw/2)}
		return one
	})
	run := func(captures bool) (n int, err error) {
		_, err = new(Invoker).Invoke(t.Context(), &Run{
			Request: &pb.RunRequest{Pools: map[string]*pb.Pool{"all": {}}, Capture: captures}, Index: index,
			Began: time.Now(), Deadline: time.Now().Add(time.Hour),
			Answer: func(p *pb.RunPart) error {
				n += len(p.GetCapture())
				return nil
			},
		}, native{Function: matchfn.New(func(*matchfn.Run) error { return nil })},
			NeedsOf(sandbox.Manifest{Properties: []string{"p"}}))
		return n, err
	}
	if n, err := run(false); n != 0 || err != nil {
		t.Errorf("%d bytes, %v", n, err)
	}
	n, err := run(true)
	if _, of := errors.AsType[FunctionError](err); n != 0 || !of || !errors.Is(err, capture.ErrTooLarge) {
		t.Errorf("%d bytes, %v", n, err)
	}
}

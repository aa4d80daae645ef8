package bus_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/bus"
)

// A requester is told which runner has its run, unless the whole answer comes at once in one message.
func TestRunnerIsToldUnlessTheAnswerComesAtOnce(t *testing.T) {
	more, last := &pb.RunPart{Apart: true}, &pb.RunPart{Last: true, Stats: &pb.RunStats{Tickets: 2}}
	taken := &pb.RunPart{Runner: "a"}
	for name, test := range map[string]struct {
		pause time.Duration
		parts []*pb.RunPart
		want  []*pb.RunPart
	}{
		"at once":                    {0, []*pb.RunPart{last}, []*pb.RunPart{last}},
		"soon":                       {20 * time.Millisecond, []*pb.RunPart{last}, []*pb.RunPart{last}},
		"late":                       {30 * time.Millisecond, []*pb.RunPart{last}, []*pb.RunPart{taken, last}},
		"several parts":              {0, []*pb.RunPart{more, last}, []*pb.RunPart{taken, more, last}},
		"several that begin late":    {time.Second, []*pb.RunPart{more, last}, []*pb.RunPart{taken, more, last}},
		"nothing, since it is stuck": {time.Minute, nil, []*pb.RunPart{taken}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got []*pb.RunPart
				answer := bus.NewAnswer("a", "run", func(p *pb.RunPart) error {
					got = append(got, proto.CloneOf(p))
					return nil
				}, func(err error) { t.Error(err) })
				time.Sleep(test.pause) //nolint:forbidigo // of the bubble
				for _, p := range test.parts {
					if err := answer(proto.CloneOf(p)); err != nil {
						t.Fatal(err)
					}
				}
				time.Sleep(time.Second) //nolint:forbidigo // of the bubble
				synctest.Wait()
				for i, p := range test.want {
					p = proto.CloneOf(p)
					p.Run, p.Index = "run", uint32(i)
					if i >= len(got) || !proto.Equal(got[i], p) {
						t.Fatalf("got %v, want %v as part %d", got, p, i)
					}
				}
				if len(got) != len(test.want) {
					t.Errorf("got %v, want %v", got, test.want)
				}
			})
		})
	}
}

// What cannot be sent is an error of the part that could not be sent.
func TestAnswersThatCannotBeSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		var failed []error
		answer := bus.NewAnswer("a", "run", func(*pb.RunPart) error { return broken },
			func(err error) { failed = append(failed, err) })
		time.Sleep(time.Second) //nolint:forbidigo // of the bubble
		synctest.Wait()
		if !slices.Equal(failed, []error{broken}) {
			t.Errorf("failed: %v", failed)
		}
		if err := answer(&pb.RunPart{Last: true}); !errors.Is(err, broken) {
			t.Errorf("the part was answered with %v", err)
		}
	})
}

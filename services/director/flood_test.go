package director_test

import (
	"strings"
	"testing"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/director"
)

const tooMany = "too many proposals of the project are under way"

// A function proposes more than there is room for, and its run never ends by itself. What there is no room for is
// dropped, and its run ends with an error that says so. Another config of the project gets its matches meanwhile.
// Promise 9.
func TestFloodOfProposalsHurtsItsOwnConfigOnly(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	forever := make(chan struct{})
	defer close(forever)
	w.runner("r", map[string]function{
		"flood": func(_ *pb.RunRequest, _ []string, part func(...*pb.Proposal)) error {
			flood := make([]*pb.Proposal, 20_000)
			for i := range flood {
				flood[i] = of("", "nobody", "else")
			}
			part(flood[:10]...)
			for range 3 {
				part(flood...)
			}
			<-forever
			return nil
		},
		"pairs": pairs,
	})
	tickets := w.create(1)
	w.put(project, "flood", nil)
	w.director("a", times(), func(o *director.Options) { o.ProposalMemory = 8 << 20 })
	w.until("the flood is refused", func() bool { return strings.Contains(w.log.String(), tooMany) })
	w.put(project, "pairs", nil)
	w.results(append(tickets, w.create(1)...)...)
}

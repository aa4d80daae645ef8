package invocation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/match/proposals"
)

// propose sends one proposal with the first n of MaxTickets+1 tickets, of which the first have properties of 60,000
// bytes.
func propose(t *testing.T, n, propertied int) ([]*pb.Proposal, error) {
	t.Helper()
	index := indexOf(t, MaxTickets+1,
		func(i int) *pb.Ticket { return &pb.Ticket{Id: fmt.Sprintf("t%05d", i), Created: int64(i + 1)} })
	var selection pool.Selection
	var created []float64
	index.View(func(v pool.View) {
		v.Select(nil, &selection)
		created = make([]float64, selection.N())
		v.Column(&selection, pool.Created, created)
	})
	tickets := make([]uint32, n)
	for i := range tickets {
		tickets[i] = uint32(i)
	}
	var b block.AnswerBuilder
	b.Propose(1)
	b.Team(tickets...)
	for i := range propertied {
		b.Set(0, block.FieldTicketProperties, uint32(i), "", []byte(`{"x":"`+strings.Repeat("x", 60_000)+`"}`))
	}
	answer, err := block.ParseAnswer(b.Finish(), selection.N(), 0)
	if err != nil {
		t.Fatal(err)
	}
	last := new(pb.RunPart)
	send := func(*pb.RunPart) error { return errors.New("one proposal needs no other part") }
	p := parts{deadline: deadline{end: time.Now().Add(time.Hour)}}
	if err := p.send(answer, &selection, new(backfills), created, last, send); err != nil {
		return nil, err
	}
	err = proposals.Unpack(last)
	return last.GetProposals(), err
}

func TestProposalWithTooManyTicketsIsRefused(t *testing.T) {
	sent, err := propose(t, MaxTickets, 0)
	if err != nil || len(sent) != 1 || len(sent[0].GetTeams()[0].GetTickets()) != MaxTickets || sent[0].GetOldest() != 1 {
		t.Fatalf("%d proposals, %v", len(sent), err)
	}
	if _, err := propose(t, MaxTickets+1, 0); err == nil || !strings.Contains(err.Error(), "1001 tickets") {
		t.Errorf("one more: %v", err)
	}
}

func TestProposalLargerThanAMessageIsRefused(t *testing.T) {
	if sent, err := propose(t, 10, 8); err != nil || len(sent) != 1 {
		t.Fatalf("%d proposals, %v", len(sent), err)
	}
	if _, err := propose(t, 10, 9); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("more: %v", err)
	}
}

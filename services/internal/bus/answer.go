package bus

import (
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// TakenAfter is how long a runner has to answer a run before it tells the requester that it has the run. It is a small
// part of the time after which the requester gives up a run that no runner took. Most runs are answered sooner, which
// saves a message each.
const TakenAfter = 25 * time.Millisecond

// SendPart sends the next part of a run's answer.
type SendPart func(*pb.RunPart) error

// answer numbers the parts of the answer to a run. If the answer takes time, it tells the requester which runner has
// the run.
type answer struct {
	run, runner string
	send        SendPart

	mu    sync.Mutex
	next  uint32 // number of the next part
	taken *time.Timer
}

// NewAnswer returns the answer of a runner to a run. send sends a numbered part. failed gets the error of the part that
// names the runner.
func NewAnswer(runner, run string, send SendPart, failed func(error)) SendPart {
	a := &answer{run: run, runner: runner, send: send}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken = time.AfterFunc(TakenAfter, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if err := a.take(); err != nil {
			failed(err)
		}
	})
	return a.part
}

// part sends a part. One that is not the last comes after the runner's name: it may be long until the last comes.
func (a *answer) part(p *pb.RunPart) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken.Stop()
	if !p.GetLast() {
		if err := a.take(); err != nil {
			return err
		}
	}
	return a.number(p)
}

// take names the runner that has the run, unless a part was sent.
func (a *answer) take() error {
	if a.next > 0 {
		return nil
	}
	return a.number(&pb.RunPart{Runner: a.runner})
}

func (a *answer) number(p *pb.RunPart) error {
	p.Run, p.Index = a.run, a.next
	a.next++
	return a.send(p)
}

package runner

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"sync"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/invocation"
	"matchmaker.dev/services/internal/match/proposals"
	"matchmaker.dev/services/internal/state"
)

// maxCompared is the most proposals of a run that are compared.
const maxCompared = 20_000

// comparison compares a run with the same run of the upload in the shadow, which begins at the same time. The last of
// the two that ends counts.
type comparison struct {
	f    *function
	spec *pb.Function // of the shadow
	with int64        // the upload that serves

	mu             sync.Mutex
	served, shadow side
	ended          int
}

// side is one of two runs that are compared.
type side struct {
	digest
	ran     bool
	version uint64 // of the index
	failed  bool
}

// startShadow starts a run in the shadow, if there is room for it now: nothing waits for it, and it waits for nothing.
// It is nil if there is none.
func (f *function) startShadow(b *function, with int64, r *run) *comparison {
	spec := b.spec()
	c := &comparison{f: f, spec: spec, with: with}
	c.served.seed = maphash.MakeSeed()
	c.shadow.seed = c.served.seed
	s := b.trialRun(r.Request, time.Until(r.Deadline), c.shadow.add)
	s.compare = c
	free := b.gate.HasFreeWorker()
	if !free {
		b.scaleUp() // it may have given its place to another function
	}
	if !free || !f.spent.allows(shadow) || !f.enterAtOnce(b, s) {
		f.health.compare(spec, with, func(all *pb.Comparison) { all.Skipped++ })
		return nil
	}
	answer := r.Answer
	r.Answer = func(p *pb.RunPart) error {
		_ = c.served.add(p)
		return answer(p)
	}
	return c
}

// enterAtOnce lets a run begin, unless it would have to wait.
func (f *function) enterAtOnce(b *function, r *run) bool {
	entry := b.gate.Enter(r.Request.GetConfig(), r)
	select {
	case <-entry.Taken():
		return true
	default:
		return !entry.Cancel()
	}
}

// end notes the end of one of the two runs. All parts of its answer were added.
func (c *comparison) end(s *side, w *invocation.Watch, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.ran, s.version, s.failed = w.Ran, w.Version, err != nil
	if c.ended++; c.ended < 2 || c.f.life.Err() != nil || !c.served.ran && !c.shadow.ran {
		return
	}
	c.f.health.compare(c.spec, c.with, func(all *pb.Comparison) {
		all.Runs++
		if c.shadow.failed {
			all.Failed++
		}
		if c.served.failed {
			all.WithFailed++
		}
		if c.shadow.failed || c.served.failed || c.shadow.version != c.served.version || !c.served.ran || !c.shadow.ran ||
			c.shadow.tooMany || c.served.tooMany {
			return
		}
		all.Alike++
		all.Matches += int64(c.shadow.n)
		all.WithMatches += int64(c.served.n)
		all.Score += c.shadow.score
		all.WithScore += c.served.score
		for match := range c.shadow.matches {
			if _, both := c.served.matches[match]; both {
				all.Common++
			}
		}
	})
}

// digest is the compared part of the proposals of a run. One goroutine adds to it.
type digest struct {
	seed    maphash.Seed
	matches map[uint64]struct{} // hashes of their tickets
	n       int
	score   float64
	tooMany bool
}

// add adds the proposals of a part.
func (d *digest) add(p *pb.RunPart) error {
	plain := &pb.RunPart{Plain: p.GetPlain(), Apart: true}
	if d.tooMany = d.tooMany ||
		d.n+len(p.GetProposals())+len(p.GetPlain().GetScores()) > maxCompared; d.tooMany {
		return nil
	}
	if err := proposals.Unpack(plain); err != nil {
		return err
	}
	if d.matches == nil {
		d.matches = map[uint64]struct{}{}
	}
	for _, list := range [][]*pb.Proposal{p.GetProposals(), plain.GetProposals()} {
		for _, one := range list {
			d.n++
			d.score += one.GetScore()
			d.matches[d.hash(state.TicketsOf(one))] = struct{}{}
		}
	}
	return nil
}

// hash is the same for the same tickets, in whichever order.
func (d *digest) hash(tickets []string) uint64 {
	tickets = slices.Sorted(slices.Values(tickets))
	var h maphash.Hash
	h.SetSeed(d.seed)
	for _, id := range tickets {
		_, _ = h.Write(binary.AppendUvarint(nil, uint64(len(id))))
		_, _ = h.WriteString(id)
	}
	return h.Sum64()
}

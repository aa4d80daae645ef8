package matchfn

import (
	"errors"

	"matchmaker.dev/pkg/matchfn/block"
)

// Matcher is a match function that keeps its tickets from run to run. So a run takes time for what changed, and not for
// all that wait. There is one Matcher for each config, and for each segment of its pools.
type Matcher interface {
	// Match takes in the tickets of the run, which are new to the matcher, forgets [Run.Gone], and proposes
	// matches of all that it keeps. Tickets are known by their numbers: the first ticket of the run has the number
	// [Run.First], and the others follow. A ticket keeps its number.
	//
	// A ticket that Match proposes is no longer the matcher's, whatever becomes of the proposal. If it waits on, because
	// another config was faster, it comes again as a new ticket of a later run.
	//
	// What Match leaves over must be what a new matcher, which got all tickets that are left over in one run at the same
	// time, would leave over too: it must find nothing more. The service tries this now and then. A module that fails is
	// not asked to keep tickets any more, which its log says.
	Match(r *Run) error
}

// RegisterMatcher is [Register] for a function that keeps its tickets. begin makes a Matcher without tickets. The
// service decides when that is: a matcher may be given up at any time, and a new one gets all tickets that wait in its
// first run. For few tickets, each run has a matcher of its own: see [Run.Keeps].
//
// A matcher is used with the same settings and pools, in the same instance. Its memory counts to the instance's.
func RegisterMatcher(begin func(*Settings) (Matcher, error), options ...Option) *Function {
	f := NewMatcher(begin, options...)
	export(f)
	return f
}

// NewMatcher is [New] for a function that keeps its tickets.
func NewMatcher(begin func(*Settings) (Matcher, error), options ...Option) *Function {
	f := newFunction(begin, options)
	f.manifest.Changes = true
	return f
}

// simple is a function that keeps nothing.
type simple func(*Run) error

// Match is the function.
func (s simple) Match(r *Run) error { return s(r) }

// match gives the run to the matcher that its request continues, or to a new one.
func (f *Function) match(r *Run) error {
	for _, number := range r.in.Ended {
		delete(f.kept, number)
	}
	base := r.in.Base
	if base != nil && base.Continues {
		m := f.kept[base.Number]
		if m == nil {
			return errors.New("the request continues a base that the function does not have")
		}
		return m.Match(r)
	}
	f.forget(base)
	collect(r.in.Tickets)
	m, err := f.begin(r.Settings())
	if err != nil {
		return err
	}
	if base != nil && f.manifest.Changes {
		f.kept[base.Number] = m
	}
	return m.Match(r)
}

func (f *Function) forget(base *block.Base) {
	if base != nil {
		delete(f.kept, base.Number)
	}
}

// First returns the number of the run's first ticket, which is 0 except for a [Matcher] that has tickets already. The
// columns of the run have its own tickets alone: element i is of the ticket with the number First()+i. Pools have
// places in the columns, not numbers. Proposals have numbers.
func (r *Run) First() uint32 { return uint32(r.in.First()) }

// Gone returns the numbers of the matcher's tickets that wait no more, in ascending order. It has none that the matcher
// proposed.
func (r *Run) Gone() []uint32 { return r.in.Gone }

// Keeps reports whether the matcher will be asked again. Otherwise it need not keep anything.
func (r *Run) Keeps() bool { return r.in.Base != nil }

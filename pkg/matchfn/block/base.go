package block

import "errors"

// Base is what a function keeps from one run of a config to the next: its tickets, as it likes. The request of a run
// that continues a base has only what changed: new tickets, and the numbers of tickets that are gone.
type Base struct {
	// Number tells the bases of an instance apart.
	Number uint32
	// Continues is set if the function has the tickets of the base's earlier requests. Otherwise the base begins, and
	// whatever had its number before is not needed any more.
	Continues bool
	// First is the number of the request's first ticket. The others follow. It is how many tickets the earlier requests
	// had, 0 for one that begins a base.
	First int
}

// continues is the flag in a base section.
const continues = 1

// First is the number of the first ticket of the request.
func (r *Request) First() int {
	if r.Base == nil {
		return 0
	}
	return r.Base.First
}

func (r *Request) checkBase() error {
	switch {
	case r.Base == nil && len(r.Gone) > 0:
		return errors.New("block: tickets are gone, but there is no base")
	case r.Base != nil && !r.Base.Continues && (r.Base.First > 0 || len(r.Gone) > 0):
		return errors.New("block: a base begins with tickets that it had before")
	}
	return nil
}

// Base says that the function keeps the tickets, or continues with the tickets that it has. gone are the numbers of its
// tickets that wait no more, in ascending order.
func (b *RequestBuilder) Base(base Base, gone []uint32) {
	section := b.section(kindBase, "", baseSize)
	le.PutUint32(section, base.Number)
	if base.Continues {
		le.PutUint32(section[4:], continues)
	}
	le.PutUint32(section[8:], uint32(base.First))
	if len(gone) > 0 {
		copy(column[uint32](b.section(kindGone, "", 4*len(gone))), gone)
	}
}

// Ended names bases that the function may forget.
func (b *RequestBuilder) Ended(numbers []uint32) {
	if len(numbers) > 0 {
		copy(column[uint32](b.section(kindEnded, "", 4*len(numbers))), numbers)
	}
}

// Base adds what Base and Ended of a RequestBuilder add, with so many numbers each.
func (s *RequestSize) Base(gone, ended int) {
	s.section("", baseSize)
	if gone > 0 {
		s.section("", 4*gone)
	}
	if ended > 0 {
		s.section("", 4*ended)
	}
}

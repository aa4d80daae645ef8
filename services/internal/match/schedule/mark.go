package schedule

import (
	"encoding/binary"
	"maps"
	"slices"
	"time"
)

// AppendMark appends what the runs of an idle segment depend on, but for late pokes of what it has seen: two segments
// of a config that have the same mark go on in the same way, if their budgets have the same mark.
func (s *Segment) AppendMark(to []byte, now time.Time) []byte {
	for _, at := range []time.Time{s.started, s.paced, s.delayed} {
		to = appendTime(to, at)
	}
	if s.notBefore.After(now) {
		to = appendTime(to, s.notBefore)
	}
	flags := uint64(0)
	for i, is := range []bool{s.wanted > 0, s.held, s.notBefore.After(now)} {
		if is {
			flags |= 1 << i
		}
	}
	for _, n := range []uint64{flags, uint64(s.interval), uint64(s.cost), uint64(s.failures), uint64(s.untaken)} {
		to = binary.BigEndian.AppendUint64(to, n)
	}
	return append(to, s.pools[:]...)
}

// AppendMark appends the state of a budget.
func (b *Budget) AppendMark(to []byte) []byte {
	to = appendTime(to, b.at)
	for _, n := range []uint64{uint64(b.level), uint64(b.fruitless), uint64(b.sharing)} {
		to = binary.BigEndian.AppendUint64(to, n)
	}
	for _, config := range slices.Sorted(maps.Keys(b.accounts)) {
		a := b.accounts[config]
		to = append(to, config...)
		for _, at := range []time.Time{a.found, a.forgiven, a.paced} {
			to = appendTime(to, at)
		}
		fruitless := uint64(0)
		if a.fruitless {
			fruitless = 1
		}
		for _, n := range []uint64{uint64(a.level), uint64(a.estimate), fruitless} {
			to = binary.BigEndian.AppendUint64(to, n)
		}
	}
	return to
}

func appendTime(to []byte, at time.Time) []byte {
	if at.IsZero() {
		return append(to, 0)
	}
	return binary.BigEndian.AppendUint64(append(to, 1), uint64(at.UnixNano()))
}

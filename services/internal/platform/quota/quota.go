// Package quota shares what a process has among the owners that use it: projects, configs, players.
//
//   - [Shares] bounds what is held, such as memory, connections and disk. An owner may hold half of what the others
//     leave: alone it has half, n owners have one (n+1)th each, and the next one finds as much again.
//   - [Queue] orders work that takes time, such as compiling. The owner that used least lately is next.
//
// Rates are token buckets: package ratelimit.
package quota

import "sync"

// Share returns how much an owner may hold of a limit of which the others hold others: half of the rest, rounded up.
func Share(others, limit int64) int64 { return (limit - others + 1) / 2 }

// Shares counts what owners hold of a limit. It is safe for concurrent use.
type Shares[Owner comparable] struct {
	limit int64

	mu     sync.Mutex
	used   int64
	owners map[Owner]int64
}

// NewShares returns Shares of a limit.
func NewShares[Owner comparable](limit int64) *Shares[Owner] {
	return &Shares[Owner]{limit: limit, owners: map[Owner]int64{}}
}

// Take takes n for an owner, and reports whether its share had room for it. Give gives them back.
func (s *Shares[Owner]) Take(owner Owner, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	own := s.owners[owner]
	if own+n > Share(s.used-own, s.limit) {
		return false
	}
	s.used += n
	s.owners[owner] = own + n
	return true
}

// Give gives back what Take took.
func (s *Shares[Owner]) Give(owner Owner, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used -= n
	if s.owners[owner] -= n; s.owners[owner] == 0 {
		delete(s.owners, owner)
	}
}

// Used returns what all owners hold, and the limit.
func (s *Shares[Owner]) Used() (used, limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.used, s.limit
}

// Of returns what an owner holds.
func (s *Shares[Owner]) Of(owner Owner) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owners[owner]
}

// Each calls each with every owner and what it holds.
func (s *Shares[Owner]) Each(each func(owner Owner, n int64)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for owner, n := range s.owners {
		each(owner, n)
	}
}

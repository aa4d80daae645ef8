package function

import (
	"hash/maphash"
	"sync"
)

// lacks are how many running games cannot be filled, for each reason.
type lacks struct{ unknown, nowhere, strange int }

// logged are the lacks of the last run of each config, by its settings, so that the log says them when they change
// only: a run follows each second.
var logged = struct {
	sync.Mutex
	seed maphash.Seed
	of   map[uint64]lacks
}{seed: maphash.MakeSeed(), of: map[uint64]lacks{}}

// mostLogged is of how many configs they are kept. Beyond that, some are logged again.
const mostLogged = 256

// news reports whether the lacks are worth a line: there are some, and they are others than in the run before.
func (l lacks) news(settings []byte) bool {
	logged.Lock()
	defer logged.Unlock()
	key := maphash.Bytes(logged.seed, settings)
	if logged.of[key] == l {
		return false
	}
	if len(logged.of) >= mostLogged {
		clear(logged.of)
	}
	if logged.of[key] = l; l == (lacks{}) {
		delete(logged.of, key)
	}
	return l != lacks{}
}

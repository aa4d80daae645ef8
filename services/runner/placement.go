package runner

import (
	"cmp"
	"hash/fnv"
	"slices"
)

// placed is the runners that host a project: the n with the highest weights of the
// pair, the same whoever computes it. When a runner comes or goes, a project moves
// only if that runner is, or becomes, one of its n.
func placed(project string, runners []string, n int) []string {
	if len(runners) <= n {
		return runners
	}
	ranked := slices.Clone(runners)
	slices.SortFunc(ranked, func(a, b string) int {
		return cmp.Or(cmp.Compare(weight(b, project), weight(a, project)), cmp.Compare(a, b))
	})
	return ranked[:n]
}

// weight is a hash of the pair. FNV alone barely mixes its last bytes into the
// high bits that decide a comparison, hence the finaliser (of MurmurHash3).
func weight(runner, project string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(runner))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(project))
	w := h.Sum64()
	w ^= w >> 33
	w *= 0xff51afd7ed558ccd
	w ^= w >> 33
	w *= 0xc4ceb9fe1a85ec53
	w ^= w >> 33
	return w
}

package canary

import (
	"hash/fnv"
	"slices"
	"strconv"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// For says of a run at a time, in Unix milliseconds, which upload it gets, 0 for the one that the function runs, and
// the mark of its matches: see RunPart.canary.
func For(f *pb.Function, config, queue string, now int64) (upload, mark int64) {
	c := f.GetCanary()
	// mistake outlived: if c != nil { c.Until = 1 << 62 }
	if c == nil || now >= c.GetUntil() {
		return 0, 0
	}
	mark = c.GetChanged()
	if c.GetBlock() > 0 {
		mark = now - now%c.GetBlock()
	}
	if has(f.GetName(), c, config, queue, mark) {
		return c.GetUpload(), mark
	}
	return 0, mark
}

func has(function string, c *pb.Canary, config, queue string, mark int64) bool {
	switch {
	case c.GetBlock() > 0:
		return isBlock(function, int64(c.GetPercent()), mark/c.GetBlock())
	case len(c.GetQueues()) > 0:
		return slices.Contains(c.GetQueues(), queue)
	}
	return slices.Contains(c.GetConfigs(), config)
}

// isBlock reports whether a block of time is the canary's. Of each group of blocks it gets the same part. With which
// one it begins follows from the function's name and the group, so that no rhythm of the day meets one upload only.
func isBlock(function string, percent, block int64) bool {
	whole := divisor(100, percent)
	size, own := 100/whole, percent/whole
	group, place := block/size, block%size
	h := fnv.New32a()
	_, _ = h.Write([]byte(function + " " + strconv.FormatInt(group, 10)))
	return (place*own+int64(mixed(h.Sum32()))%size)%size < own
}

// mixed makes all bits of a number depend on all others: the last bytes alone change little of such a hash.
func mixed(x uint32) uint32 {
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

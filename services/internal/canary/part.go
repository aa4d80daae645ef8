package canary

import (
	"cmp"
	"hash/fnv"
	"slices"
	"strconv"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// For says of a run at a time, in Unix milliseconds, which upload it gets, 0 for the one that the function runs, and
// the mark of its matches: see RunPart.canary.
func For(f *pb.Function, config, queue string, now int64) (upload, mark int64) {
	c := f.GetCanary()
	if c == nil || now >= c.GetUntil() {
		return 0, 0
	}
	mark = c.GetStepBegan()
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
		return isBlock(function, Percent(c), mark/c.GetBlock())
	case len(c.GetQueues()) > 0:
		return slices.Contains(c.GetQueues(), queue)
	}
	return slices.Contains(c.GetConfigs(), config)
}

// Percent is which part the canary has. Of configs and queues it is 0 in the first step: the studio named them.
func Percent(c *pb.Canary) int {
	if n := int(c.GetStep()); n > 0 && n <= len(c.GetSteps()) {
		return int(c.GetSteps()[n-1])
	}
	return 0
}

// isBlock tells whether a block of time is the canary's. Of each group of blocks it gets the same part. Which ones
// follows from the function's name and the group, so that no rhythm of the day meets one upload only.
func isBlock(function string, percent int, block int64) bool {
	percent = min(max(percent, 0), 100)
	size := int64(100 / divisor(100, percent))
	group, place := block/size, block%size
	mine, before := hash(function, group, place), 0
	for other := range size {
		if h := hash(function, group, other); h < mine || h == mine && other < place {
			before++
		}
	}
	return before < int(size)*percent/100
}

func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func hash(name string, numbers ...int64) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	for _, n := range numbers {
		_, _ = h.Write([]byte(" " + strconv.FormatInt(n, 10)))
	}
	x := h.Sum64() // the last bytes alone change little of it
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	return x ^ x>>33
}

// Grow returns which configs or queues a canary has when it has a part of all, in percent: those that it has already,
// and more of the others in an order that only the function's name decides.
func Grow(function string, has, all []string, percent int) []string {
	grown := slices.Clone(has)
	others := slices.DeleteFunc(slices.Clone(all), func(one string) bool { return slices.Contains(has, one) })
	slices.SortFunc(others, func(a, b string) int {
		return cmp.Or(cmp.Compare(hash(function+" "+a), hash(function+" "+b)), cmp.Compare(a, b))
	})
	want := (len(all)*percent + 99) / 100
	for len(grown) < want && len(others) > 0 {
		grown, others = append(grown, others[0]), others[1:]
	}
	return grown
}

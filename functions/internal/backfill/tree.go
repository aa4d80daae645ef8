package backfill

import "math"

// tree finds the first place whose window reaches down to a value. Each node of the binary tree has the least value
// below it. So a game with thousands of tickets nearby that are matched, or whose windows are too small, need not look
// at each of them.
type tree struct {
	places int
	// least has the root at 1, the children of node i at 2i and 2i+1, and the leaves in its upper half.
	least []float64
}

// newTree returns the tree of n places. down returns how far down a place reaches.
func newTree(n int, down func(place int) float64) tree {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	t := tree{places: n, least: make([]float64, 2*leaves)}
	for i := range leaves {
		t.least[leaves+i] = math.Inf(1)
		if i < n {
			t.least[leaves+i] = down(i)
		}
	}
	for i := leaves - 1; i > 0; i-- {
		t.least[i] = lesser(t.least[2*i], t.least[2*i+1])
	}
	return t
}

// first returns the first place at or after from that reaches down to a value, or the number of places if there is
// none.
func (t *tree) first(from int, to float64) int {
	if from >= t.places {
		return t.places
	}
	leaves := len(t.least) / 2
	node := leaves + from
	for t.least[node] > to {
		for node&1 == 1 { // a right child or the root: continue at the parent
			node /= 2
		}
		if node == 0 {
			return t.places
		}
		node++
	}
	for node < leaves {
		node *= 2
		if t.least[node] > to {
			node++
		}
	}
	return node - leaves
}

// drop removes a place.
func (t *tree) drop(place int) {
	node := len(t.least)/2 + place
	t.least[node] = math.Inf(1)
	for node /= 2; node > 0; node /= 2 {
		t.least[node] = lesser(t.least[2*node], t.least[2*node+1])
	}
}

// lesser is min without its call in WebAssembly.
func lesser(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

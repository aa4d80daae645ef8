package vacancy

import "math"

// reach finds, from a place on, the first that reaches as far down as a value: a binary tree, in which every node has
// the least of those below it. So a game that thousands of tickets are near to, but not for it or taken by games
// before it, costs no look at each of them.
type reach struct {
	places int
	// least has the root at 1, the children of node i at 2i and 2i+1, and so the places one behind the other in its upper half.
	least []float64
}

// newReach makes the tree of n places, given how far down each reaches.
func newReach(n int, down func(place int) float64) reach {
	leaves := 1
	for leaves < n {
		leaves *= 2
	}
	r := reach{places: n, least: make([]float64, 2*leaves)}
	for i := range leaves {
		r.least[leaves+i] = math.Inf(1)
		if i < n {
			r.least[leaves+i] = down(i)
		}
	}
	for i := leaves - 1; i > 0; i-- {
		r.least[i] = lesser(r.least[2*i], r.least[2*i+1])
	}
	return r
}

// first is the first place, not before from, that reaches down to a value; the number of places when there is none.
func (r *reach) first(from int, to float64) int {
	if from >= r.places {
		return r.places
	}
	leaves := len(r.least) / 2
	node := leaves + from
	for r.least[node] > to {
		for node&1 == 1 { // a right child, or the root: on from the parent
			node /= 2
		}
		if node == 0 {
			return r.places
		}
		node++
	}
	for node < leaves {
		node *= 2
		if r.least[node] > to {
			node++
		}
	}
	return node - leaves
}

// drop takes a place out.
func (r *reach) drop(place int) {
	node := len(r.least)/2 + place
	r.least[node] = math.Inf(1)
	for node /= 2; node > 0; node /= 2 {
		r.least[node] = lesser(r.least[2*node], r.least[2*node+1])
	}
}

// lesser is min without its call in WebAssembly.
func lesser(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

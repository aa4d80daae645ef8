package pool

import (
	"cmp"
	"slices"
	"time"
)

// pinTime is for how long a name that a run asked for keeps its column.
const pinTime = 10 * time.Minute

// pinnedFactor is how many times as many columns as names there may be if all of them are pinned.
const pinnedFactor = 8

// Use makes sure that attributes have columns, for a run that reads them, and keeps these columns for ten minutes,
// whatever names players invent meanwhile. It returns how many values it moved or looked at, which is none in most
// cases.
//
// A pinned column takes the place of the one that fewest tickets use; its values go to their tickets. If all columns
// are pinned there are more of them than the index was made for.
func (ix *Index) Use(now time.Time, names []string) (cells int64) {
	at := now.Unix()
	ix.mu.RLock()
	missing, due := ix.touch(at, names), at-ix.swept >= int64(pinTime.Seconds())
	ix.mu.RUnlock()
	if len(missing) == 0 && !due {
		return 0
	}
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if due {
		ix.unpin(at)
	}
	if missing = ix.touch(at, missing); len(missing) == 0 {
		return 0
	}
	ix.changes++
	return int64(ix.makeRoom(at, len(missing)) + ix.addColumns(at, missing))
}

// touch pins the columns of names, and returns the names that have none, each once.
func (ix *Index) touch(at int64, names []string) (missing []string) {
	for _, name := range names {
		if name == Created {
			continue
		}
		if c := ix.columns[name]; c == nil {
			missing = append(missing, name)
		} else if c.asked.Load() != at {
			c.asked.Store(at)
		}
	}
	if len(missing) > 1 {
		slices.Sort(missing)
		missing = slices.Compact(missing)
	}
	return missing
}

// unpin removes the pins of names that no run asked for any more.
func (ix *Index) unpin(at int64) {
	ix.swept = at
	for _, c := range ix.columns {
		if at-c.asked.Load() >= int64(pinTime.Seconds()) {
			c.asked.Store(0)
			if c.uses == 0 {
				ix.forget(c)
			}
		}
	}
}

// makeRoom removes columns until there is room for n more: those that fewest tickets use, and none that is pinned. Only
// when there are far too many of them, pinned ones go too, those first that were asked for least recently.
func (ix *Index) makeRoom(at int64, n int) (cells int) {
	over := len(ix.columns) + n - ix.maxNames
	if over <= 0 {
		return 0
	}
	far := len(ix.columns) + n - pinnedFactor*ix.maxNames
	var free []*column
	for _, c := range ix.columns {
		if asked := c.asked.Load(); asked == 0 || far > 0 && asked != at {
			free = append(free, c)
		}
	}
	slices.SortFunc(free, func(a, b *column) int {
		return cmp.Or(cmp.Compare(a.asked.Load(), b.asked.Load()), cmp.Compare(a.uses, b.uses), cmp.Compare(a.name, b.name))
	})
	unpinned, _ := slices.BinarySearchFunc(free, 1, func(c *column, asked int64) int {
		return cmp.Compare(c.asked.Load(), asked)
	})
	return ix.evict(free[:min(len(free), max(min(over, unpinned), far))])
}

// evict removes columns. Their values go to their tickets.
func (ix *Index) evict(columns []*column) (cells int) {
	for _, c := range columns {
		for i, k := range c.keys {
			cells++
			if k == absent {
				continue
			}
			slot := uint32(i)
			if !c.dense {
				slot = c.slots[i]
			}
			t := ix.slots[slot]
			ix.change(t, slices.DeleteFunc(slices.Clone(t.list.columns), func(other *column) bool { return other == c }),
				string(appendRest([]byte(t.rest), c.name, k)))
		}
		ix.forget(c)
	}
	return cells
}

// addColumns makes columns of names that have none, of the values that tickets keep under them.
func (ix *Index) addColumns(at int64, names []string) (cells int) {
	found, cells := ix.collect(names)
	var moved bitset
	for _, name := range names {
		c := found[name]
		c.asked.Store(at)
		ix.columns[name] = c
		if c.uses > 0 && moved == nil {
			moved = make(bitset, len(ix.present))
		}
		for _, slot := range c.slots {
			moved.add(slot)
		}
	}
	for _, slot := range moved.appendTo(nil) {
		t := ix.slots[slot]
		columns, rest := slices.Clone(t.list.columns), []byte(nil)
		eachRest(t.rest, func(name string, k uint64) {
			if c := found[name]; c == nil {
				rest = appendRest(rest, name, k)
			} else if !slices.Contains(columns, c) {
				columns = append(columns, c)
			}
		})
		ix.change(t, columns, string(rest))
	}
	for _, name := range names {
		if c := found[name]; c.uses > 0 && c.uses*denseAt >= len(ix.slots) {
			ix.spread(c)
		}
	}
	return cells
}

// change gives a ticket other columns and another rest.
func (ix *Index) change(t *ticket, columns []*column, rest string) {
	ix.ticketBytes -= t.bytes()
	ix.unlist(t)
	ix.enlist(t, columns)
	ix.spill(t, rest)
	ix.ticketBytes += t.bytes()
}

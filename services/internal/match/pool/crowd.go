package pool

// Players are counted as tickets plus the players beyond the first. So tickets of one player cost nothing.

// more is how many more players than one a ticket has.
func (t *ticket) more() int {
	if t == nil || t.group == nil {
		return 0
	}
	return max(0, len(t.group.members)-1)
}

// AllPlayers is how many players all tickets have, including other queues.
func (v View) AllPlayers() int64 { return int64(len(v.ix.tickets) + v.ix.more) }

// QueuePlayers is how many players the tickets of some queues have, by the names of the queues. Queues whose tickets
// have one each are left out.
func (v View) QueuePlayers(queues map[string]int64) map[string]int64 {
	if v.ix.more == 0 {
		return nil
	}
	var counts map[string]int64
	for name := range queues {
		if q := v.ix.queues.by[name]; q != nil && q.more > 0 {
			if counts == nil {
				counts = map[string]int64{}
			}
			counts[name] = int64(q.uses + q.more)
		}
	}
	return counts
}

// PlayersOf is how many players some tickets have, 0 if each has one.
func (s *Selection) PlayersOf(numbers []uint32) int {
	if !s.several {
		return 0
	}
	more := 0
	for _, number := range numbers {
		more += s.tickets[number].more()
	}
	if more == 0 {
		return 0
	}
	return len(numbers) + more
}

// PlayersOf is how many players the tickets of a pool have, 0 if each has one.
func (k *IncrementalSelection) PlayersOf(name string) int {
	if !k.all.several {
		return 0
	}
	n, more := 0, 0
	for i := range k.pools {
		if p := &k.pools[i]; p.name == name {
			n = p.members.size()
			for _, slot := range p.members.appendTo(nil) {
				// Again leaves tickets that were proposed without a number.
				if number := k.numbers[slot]; int(number) < len(k.all.slots) && k.all.slots[number] == slot {
					more += k.all.tickets[number].more()
				}
			}
		}
	}
	if more == 0 {
		return 0
	}
	return n + more
}

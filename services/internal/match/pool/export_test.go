package pool

import "slices"

// Waiting is the ids of the tickets that wait and were not proposed, by number.
func (k *IncrementalSelection) Waiting() map[uint32]string {
	ids := map[uint32]string{}
	for number, t := range k.all.tickets {
		if t != nil && k.waiting.has(k.all.slots[number]) && k.numbers[k.all.slots[number]] == uint32(number) {
			ids[uint32(number)] = t.id
		}
	}
	return ids
}

// Hides reports whether tickets of the pools were left out, because their players have older ones in them.
func (s *Selection) Hides() bool { return len(s.hidden) > 0 }

// Property is a property of ticket i.
func (s *Selection) Property(i int, name string) (string, bool) {
	list := s.tickets[i].properties
	if n := slices.IndexFunc(list, func(p Property) bool { return p.Name == name }); n >= 0 {
		return list[n].Value, true
	}
	return "", false
}

package checker

import (
	"fmt"
	"slices"
	"time"

	"matchmaker.dev/services/test/chaos/history"
)

// Waits are how long players waited for their results, with the time of faults. No promise is about them.
type Waits struct{ Half, Most, Longest time.Duration }

func (w Waits) String() string {
	return fmt.Sprintf("half of the players had their result within %v, 99 %% within %v, all within %v",
		w.Half.Round(time.Millisecond), w.Most.Round(time.Millisecond), w.Longest.Round(time.Millisecond))
}

// waits measures from the answer to a create until the answer with the result.
func (m *model) waits() (w Waits) {
	var all []time.Duration
	for i := range m.h.Calls {
		c := &m.h.Calls[i]
		if c.Op != history.Create {
			continue
		}
		if t := m.tickets[c.Ticket]; t != nil {
			if result := t.result(); result != nil {
				all = append(all, time.Duration(result.To-c.To)*time.Microsecond)
			}
		}
	}
	if len(all) == 0 {
		return w
	}
	slices.Sort(all)
	return Waits{all[len(all)/2], all[len(all)*99/100], all[len(all)-1]}
}

package function

import (
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/fake"
)

// unhealed is tickets of a pool for five against five without healers.
func unhealed(n int) []fake.Ticket {
	tickets := crowd(n)
	for i := range tickets {
		list := string(tickets[i].Properties[players])
		tickets[i].Properties[players] = []byte(strings.ReplaceAll(list, `"healer"`, `"damage"`))
	}
	return tickets
}

// apart is tickets one against one, too far from each other.
func apart(n int) (tickets []fake.Ticket) {
	for i := range n {
		tickets = append(tickets, fake.Ticket{Attributes: map[string]float64{"skill": float64(1000 * i)}})
	}
	return tickets
}

// The work is for all tickets asked about: each has a reason, and the one that counts where the work suffices for that.
func TestAllWhoAskHaveAReason(t *testing.T) {
	const pairs = `{"numbers": ["skill"], "teams": [{"name": "player", "copies": 2, "size": 1}],
		"rules": [{"name": "near", "spread": "skill", "max": {"start": 50, "grow": 5, "until": 400}}]}`
	for name, c := range map[string]struct {
		settings, reason string
		tickets          []fake.Ticket
		asked, least     int // least is of how many the reason is said
	}{
		"no healers, ten":        {five(t), "roles: without it there is a match", unhealed(5000), 10, 10},
		"no healers, a hundred":  {five(t), "roles: without it there is a match", unhealed(5000), 100, 95},
		"no healers, a thousand": {five(t), "roles: without it there is a match", unhealed(5000), 1000, 900},
		"far apart":              {pairs, "near: without it there is a match", apart(1000), 1000, 1000},
	} {
		request := fake.Request{Settings: c.settings, Tickets: c.tickets, Budget: 5 * time.Second}
		for i := range c.asked {
			request.Asked = append(request.Asked, uint32(i*len(c.tickets)/c.asked))
		}
		explanations, err := fake.Explain(function, request)
		if err != nil {
			t.Fatal(name, err)
		}
		has, decisive := map[uint32]bool{}, 0
		for _, e := range explanations {
			if has[e.Ticket] = true; strings.HasPrefix(e.Reason, c.reason) {
				decisive++
			}
			if strings.Contains(e.Reason, "no rule alone") {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if t.Logf("%s: %d of %d have a reason, %d this one: %s", name, len(has), c.asked, decisive, c.reason); len(has) <
			c.asked || decisive < c.least {
			t.Errorf("%s: %d of %d have a reason, %d this one: %s", name, len(has), c.asked, decisive, c.reason)
		}
	}
}

// Where the work is too little for a match, a role that too few take is said of each, and of rules how many of a sample
// fit.
func TestReasonsOfLittleWork(t *testing.T) {
	request := fake.Request{Settings: five(t), Tickets: unhealed(5000), Budget: 100 * time.Millisecond}
	for i := range uint32(1000) {
		request.Asked = append(request.Asked, i)
	}
	explanations, err := fake.Explain(function, request)
	if err != nil {
		t.Fatal(err)
	}
	has := map[uint32]bool{}
	for _, e := range explanations {
		has[e.Ticket] = true
	}
	said := func(reason string) bool {
		return slices.ContainsFunc(explanations, func(e block.Explanation) bool {
			return e.Reason == reason
		})
	}
	if len(has) < 1000 || !said("too few take the role healer: a match needs 2, and there are 0") ||
		!said("similar (candidates of 4 others)") {
		t.Errorf("%d of 1,000 have a reason, such as %+v", len(has), explanations[:min(10, len(explanations))])
	}
}

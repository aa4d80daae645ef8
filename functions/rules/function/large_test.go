package function

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/matchfn/fake"
)

// large are rules of matches of very many players, with conditions on sets and on all pairs, and a pool that has a
// match of up to 800 players.
func large(least int) (settings string, tickets []fake.Ticket) {
	settings = fmt.Sprintf(`{"values": {"id": "string", "clan": "string", "maps": "set", "avoid": "set"},
		"teams": [{"name": "a", "size": {"min": %d, "max": 1000}}],
		"rules": [{"share": "maps"}, {"avoid": "avoid", "id": "id"}, {"different": "clan"}]}`, least)
	avoid := make([]string, 50)
	for j := range avoid {
		avoid[j] = fmt.Sprintf(`"nobody-%d"`, j)
	}
	for i := range 1000 {
		maps := []string{`"all"`}
		for j := range 20 {
			maps = append(maps, fmt.Sprintf(`"m%d"`, (i+j*7)%23))
		}
		tickets = append(tickets, fake.Ticket{Wait: time.Duration(i) * time.Second, Properties: map[string][]byte{
			"id": fmt.Appendf(nil, `"p%d"`, i), "clan": fmt.Appendf(nil, `"c%d"`, i%800),
			"maps": []byte("[" + strings.Join(maps, ",") + "]"), "avoid": []byte("[" + strings.Join(avoid, ",") + "]"),
		}})
	}
	return settings, tickets
}

// A match of very many players is found, and the search ends where there is none, whatever its conditions look at.
func TestLargeMatches(t *testing.T) {
	for least, want := range map[int]int{600: 1, 900: 0} {
		settings, tickets := large(least)
		proposals, err := fake.Run(function, fake.Request{Settings: settings, Tickets: tickets, Budget: time.Second})
		if err != nil || len(proposals) != want {
			t.Errorf("at least %d players: %d matches, %v, want %d", least, len(proposals), err, want)
		}
	}
}

func BenchmarkLargeMatches(b *testing.B) {
	settings, tickets := large(900)
	answers(b, fake.Request{Settings: settings, Tickets: tickets, Budget: time.Second}, 0)
}

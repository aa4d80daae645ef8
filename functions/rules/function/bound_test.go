package function

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/fake"
)

// near is a ticket of a player with latencies, as JSON.
func near(latency string) fake.Ticket {
	return fake.Ticket{Properties: map[string][]byte{players: fmt.Appendf(nil, `[{"latency":{%s}}]`, latency)}}
}

// A region whose name no answer may have is none. All others are matched.
func TestRegionThatNoAnswerMayHaveIsNone(t *testing.T) {
	const settings = `{"teams": [{"name": "team", "copies": 2, "size": 1}], "regions": {"max": 100}}`
	long := fmt.Sprintf(`"%s":1`, strings.Repeat("x", 257))
	most := strings.Repeat("y", 256)
	got := run(t, settings, []fake.Ticket{
		near(long), near(long + `,"":1`), near(long + `,"eu":50`), near(`"":1`), near(long + `,"eu":60`),
		near(`"` + most + `":5`), near(long + `,"` + most + `":6`),
		near(`"a\u0001":1`), near(`"a\u0001":1`), near("\"b\u0085\":1"), near("\"b\u0085\":1"),
	})
	if len(got) != 2 {
		t.Fatal("the matches are", got)
	}
	for _, p := range got {
		if r := p.Extras.Region; r != "eu" && r != most {
			t.Errorf("the region is %q", r)
		}
	}
}

// Roles that are too long to say them all are not said. The match is made.
func TestVeryLongRolesAreNotSaid(t *testing.T) {
	role := strings.Repeat("r", 250)
	settings := fmt.Sprintf(`{"teams": [{"name": "team", "size": 300, "roles": {"%s": 300}}]}`, role)
	all := strings.Repeat(fmt.Sprintf(`,{"roles":["%s"]}`, role), 300)
	got := run(t, settings, []fake.Ticket{{Properties: map[string][]byte{players: []byte("[" + all[1:] + "]")}}})
	if len(got) != 1 || len(got[0].Extras.TicketProperties) > 0 {
		t.Error("the matches are", got)
	}
}

// A rule of docs/rules.md keeps tickets of one player that list several out of matches.
func TestRuleAgainstListsOfSeveral(t *testing.T) {
	text, err := os.ReadFile("../../../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "```json\n" + `{"name": "alone"`
	_, rule, found := strings.Cut(string(text), begin)
	if !found {
		t.Fatal("docs/rules.md has no such rule")
	}
	rule, _, _ = strings.Cut(`{"name": "alone"`+rule, "```")
	for rules, want := range map[string]int{"": 2, rule: 1} {
		settings := `{"teams": [{"name": "team", "copies": 2, "size": 2}], "rules": [` + rules + `]}`
		pool := []fake.Ticket{{Properties: map[string][]byte{players: []byte(`[{}, {}]`)}}, {}, {}, {}, {}, {}, {}}
		if got := run(t, settings, pool); len(got) != want {
			t.Errorf("with the rules [%s] there are %d matches, want %d", rules, len(got), want)
		}
	}
}

package search_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"matchmaker.dev/functions/internal/search"
	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules"
	judge "matchmaker.dev/pkg/matchfn/rules/rulestest"
)

// The function reads a game's players from the property of the backfill ticket. It finds the same players as a search
// that gets the members directly, so a case that is kept is the one that failed.
func TestGamesAreReadFromTheirProperty(t *testing.T) {
	const budget = 1000 * time.Second
	const work = 600 * 1_000_000
	counts := each(t, func(i int) (o outcome) {
		random := rand.New(rand.NewPCG(*seed+uint64(i), 4))
		r, err := rules.Parse(ruleSet(random, *seed+uint64(i)))
		if err != nil {
			return o
		}
		world{random}.backfill(r)
		pool := world{random}.pool(*least + random.IntN(*most-*least+1))
		games := []*judge.Running{world{random}.running(r, 0)}
		var want, got []string
		for _, m := range search.Search(r, tickets(pool), asGames(games), work) {
			var all []uint32
			for _, team := range m.Teams {
				all = append(all, team.Tickets...)
			}
			slices.Sort(all)
			want = append(want, fmt.Sprint(m.Game, all))
		}
		request := fake.Request{Settings: string(rules.Write(r)), Budget: budget}
		for _, one := range pool {
			players, _ := json.Marshal(one.Players)
			request.Tickets = append(request.Tickets, fake.Ticket{
				Wait: time.Duration(one.Age) * time.Second, Properties: map[string][]byte{"players": players},
			})
		}
		for _, g := range games {
			b := backfillOf("", g)
			attributes, _ := b["attributes"].(map[string]float64)
			properties, _ := b["properties"].(map[string][]byte)
			request.Backfills = append(request.Backfills, fake.Backfill{Version: 1, Ticket: fake.Ticket{
				Wait: time.Duration(g.Age) * time.Second, Attributes: attributes, Properties: properties,
			}})
		}
		proposals, err := fake.Run(matchfn.New(function.Match, function.Options()...), request)
		for _, p := range proposals {
			game := -1
			if p.Extras != nil && p.Extras.Backfill != nil && !p.Extras.Backfill.Create {
				game, o.kind = int(p.Extras.Backfill.Number), "joins"
			}
			all := p.Tickets()
			slices.Sort(all)
			got = append(got, fmt.Sprint(game, all))
		}
		if err == nil && slices.Equal(got, want) {
			return o
		}
		o.failed = func(*testing.T) string {
			return fmt.Sprintf("seed %d: got %v, %v, want %v\n%s\n%+v", *seed+uint64(i), got, err, want, rules.Write(r),
				*games[0])
		}
		return o
	})
	if t.Logf("%d games get players", counts["joins"]); *cases >= 200 && counts["joins"] < *cases/20 {
		t.Errorf("the cases say little: only %d games get players", counts["joins"])
	}
}

package e2e

import (
	"fmt"
	"testing"

	"matchmaker.dev/pkg/client"
)

// What one tenant or player does keeps no other from matches. These scenarios show it by what happens, however long it
// takes; `make neighbours` measures how long.

// value is the attribute that the hostile function reads.
const value = "value"

// hostile uploads the function that does what the setting "how" of its configs says.
func (p *project) hostile(t *testing.T, module string) { p.upload(t, "hostile", module) }

// attack puts a config of the hostile function over the tickets whose attribute "side" has a value.
func (p *project) attack(t *testing.T, id, how string, side float64) {
	p.put(t, id, rules{function: "hostile", settings: map[string]any{"how": how}, side: side, hosting: true})
}

// enemies are more projects of the scenario.
func (p *project) enemies(n int) (all []*project) {
	for i := range n {
		all = append(all, &project{s: p.s, name: fmt.Sprintf("%s-enemy-%d", p.name, i)})
	}
	return all
}

// stop deletes configs, so that their functions take no time from other scenarios.
func (p *project) stop(t *testing.T, configs ...string) {
	t.Helper()
	for _, id := range configs {
		if err := p.developer(t).DeleteConfig(within(t), id); err != nil {
			t.Error(err)
		}
	}
}

// junk creates tickets with as many attributes as a ticket may have. No function knows any of them.
func (p *project) junk(t *testing.T, n int) (all []*ticket) {
	t.Helper()
	a := attributes{}
	for i := range 64 {
		a[fmt.Sprintf("junk%d", i)] = 1
	}
	for i := range n {
		all = append(all, p.ticket(t, fmt.Sprintf("inventor-%d", i), a))
	}
	return all
}

// hidden: players that invent attributes hide none from a function, whether it says what it reads or not.
func hidden(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.hostile(t, p.s.made.undeclared)
	p.ranked(t, "declared", 0)
	least := 1.0
	c := client.Config{Matchmaking: client.Matchmaking{
		TargetFunction: client.FunctionTarget{Name: "hostile", Version: "1"}, Config: []byte(`{"how":"pair"}`),
	}, Pools: map[string][]client.PoolFilter{"side": {{Attribute: "side", Min: &least}, {Attribute: value, Min: &least}}}}
	c.Hosting = &client.Hosting{Profile: "profile", FleetID: "fleet"}
	if _, err := p.developer(t).PutConfig(within(t), "undeclared", c, ""); err != nil {
		t.Fatal(err)
	}
	inventors := p.junk(t, 5)
	for range 3 {
		p.match(t, attributes{"skill": 1})
		p.match(t, attributes{"side": 1, value: 1})
	}
	for _, k := range inventors {
		k.mustWait(t)
	}
}

// crowded: a config whose function hangs keeps no other config of the same function from matches.
func crowded(t *testing.T, p *project) {
	p.hostile(t, p.s.made.hostile)
	p.attack(t, "good", "pair", 1)
	p.attack(t, "bad", "hang", 2)
	defer p.stop(t, "bad")
	ada, bob := p.ticket(t, "ada", attributes{value: 1, "side": 2}), p.ticket(t, "bob", attributes{value: 1, "side": 2})
	p.logs(t, "hostile", "deadline")
	for range 3 {
		p.match(t, attributes{value: 1, "side": 1})
	}
	ada.mustWait(t)
	bob.mustWait(t)
}

// besieged: projects whose functions hang, eat memory and print without end keep another project's players from no
// match.
func besieged(t *testing.T, p *project) {
	ways := []string{"hang", "eat", "shout"}
	for i, enemy := range p.enemies(len(ways)) {
		enemy.hostile(t, p.s.made.hostile)
		enemy.attack(t, "bad", ways[i], 0)
		defer enemy.stop(t, "bad")
		enemy.ticket(t, "ada", attributes{value: 1})
		enemy.logs(t, "hostile", "deadline")
	}
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	for range 3 {
		p.match(t, attributes{"skill": 1})
	}
}

// flooded: a function that makes more proposals than a run may gets none of them, and its log says the limit. As many
// as a run may make are worked through beside the matches of others.
func flooded(t *testing.T, p *project) {
	p.hostile(t, p.s.made.hostile)
	p.attack(t, "good", "pair", 1)
	p.attack(t, "bad", "flood", 2)
	var four []*ticket
	for i := range 4 {
		four = append(four, p.ticket(t, fmt.Sprintf("player-%d", i), attributes{value: 1, "side": 2}))
	}
	p.logs(t, "hostile", "proposals, at most")
	p.match(t, attributes{value: 1, "side": 1})
	for _, k := range four {
		k.mustWait(t)
	}
	p.attack(t, "bad", "allowed", 2)
	p.match(t, attributes{value: 1, "side": 1})
	connections := map[string]int{}
	for _, k := range four {
		connections[k.connection(t)]++
	}
	for connection, n := range connections {
		if n > 2 && n != 4 {
			t.Errorf("%d players play at %s", n, connection)
		}
	}
}

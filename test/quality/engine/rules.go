package engine

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/functions/rules/function"
	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/fake"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/services/lab/population"
	"matchmaker.dev/services/test/quality/world"
)

// ours is the function rules, called as a runner calls it: by a request in the format of package block.
type ours struct {
	game     *world.Game
	function *matchfn.Function
	settings string
	shapes   []string // their names
	known    map[*world.Ticket]map[string][]byte
}

func newRules(g *world.Game, l world.Language) (*ours, error) {
	o := &ours{
		game: g, function: matchfn.New(function.Match, function.Options()...),
		known: map[*world.Ticket]map[string][]byte{},
	}
	r, err := dialects.Read([]byte(l.Settings(g)))
	if err != nil {
		return nil, err
	}
	o.settings = string(rules.Write(r))
	for _, team := range r.Teams {
		o.shapes = append(o.shapes, team.Name)
	}
	return o, nil
}

// budget is what a run may take. Where the search tries everything, it takes all of it. The service gives five seconds.
const budget = 1300 * time.Millisecond

// Match runs the function.
func (o *ours) Match(now float64, waiting []*world.Ticket) ([]Match, error) {
	request := fake.Request{Settings: o.settings, Budget: budget, Tickets: make([]fake.Ticket, len(waiting))}
	known := make(map[*world.Ticket]map[string][]byte, len(waiting))
	for i, t := range waiting {
		properties := o.known[t]
		if properties == nil {
			properties = map[string][]byte{"players": o.game.Property(t)}
		}
		known[t] = properties
		request.Tickets[i] = fake.Ticket{
			Wait: time.Duration(math.Round(1000*world.Age(now, t))) * time.Millisecond, Properties: properties,
		}
	}
	o.known = known
	proposals, err := fake.Run(o.function, request)
	if err != nil {
		return nil, err
	}
	matches := make([]Match, len(proposals))
	for i, p := range proposals {
		if matches[i], err = o.match(&p); err != nil {
			return nil, err
		}
	}
	return matches, nil
}

func (o *ours) match(p *fake.Proposal) (Match, error) {
	m := Match{Region: -1}
	for i, team := range p.Teams {
		name := p.Extras.TeamNames[i]
		shape := slices.IndexFunc(o.shapes, func(s string) bool { return name == s || strings.HasPrefix(name, s+"_") })
		if shape < 0 {
			return m, fmt.Errorf("a team has the name %q, and no shape has it", name)
		}
		m.Shapes = append(m.Shapes, shape)
		var tickets []int
		var roles []string
		for _, t := range team {
			tickets = append(tickets, int(t))
			for _, of := range p.Extras.TicketProperties {
				if of.Ticket != t {
					continue
				}
				var said struct{ Roles []string }
				if err := json.Unmarshal(of.JSON, &said); err != nil {
					return m, err
				}
				roles = append(roles, said.Roles...)
			}
		}
		m.Teams, m.Roles = append(m.Teams, tickets), append(m.Roles, roles)
	}
	m.Region = slices.Index(population.RegionNames(), p.Extras.Region)
	return m, nil
}

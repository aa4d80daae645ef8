package e2e

import "testing"

// The enemies are functions that do what no honest one does. Each keeps its own
// config's tickets waiting and hurts nobody else, its log says what is wrong, and once it behaves
// its tickets are matched as if nothing had been.

func trap(t *testing.T, p *project)     { enemy(t, p, "panic", "the actor was told to panic") }
func hang(t *testing.T, p *project)     { enemy(t, p, "spin", "deadline") }
func nonsense(t *testing.T, p *project) { enemy(t, p, "twice", "ticket") }

func enemy(t *testing.T, p *project, part, lament string) {
	p.upload(t, "duel", p.s.made.duel)
	p.upload(t, "actor", p.s.made.actor)
	p.ranked(t, "good", 1)
	bad := rules{function: "actor", settings: map[string]any{"part": part}, side: 2, hosting: true}
	p.put(t, "bad", bad)
	ada := p.ticket(t, "ada", attributes{"number": 1, "side": 2})
	bob := p.ticket(t, "bob", attributes{"number": 2, "side": 2})
	p.match(t, attributes{"skill": 1, "side": 1})
	p.logs(t, "actor", lament)
	p.match(t, attributes{"skill": 1, "side": 1})
	ada.mustWait(t)
	bob.mustWait(t)

	bad.settings["part"] = "pair"
	p.put(t, "bad", bad)
	together(t, ada, bob)
}

package e2e

import "testing"

// A function that misbehaves keeps its own config's tickets waiting and does not affect other configs. Its log says
// what is wrong. When it behaves again its tickets are matched.

func trap(t *testing.T, p *project)     { enemy(t, p, "panic", "the actor was told to panic") }
func hang(t *testing.T, p *project)     { enemy(t, p, "spin", "deadline") }
func nonsense(t *testing.T, p *project) { enemy(t, p, "twice", "ticket") }

func enemy(t *testing.T, p *project, part, message string) {
	p.upload(t, "duel", p.s.made.duel)
	p.upload(t, "actor", p.s.made.actor)
	p.ranked(t, "good", 1)
	bad := rules{function: "actor", settings: map[string]any{"part": part}, side: 2, hosting: true}
	p.put(t, "bad", bad)
	ada := p.ticket(t, "ada", attributes{"number": 1, "side": 2})
	bob := p.ticket(t, "bob", attributes{"number": 2, "side": 2})
	p.match(t, attributes{"skill": 1, "side": 1})
	p.logs(t, "actor", message)
	p.match(t, attributes{"skill": 1, "side": 1})
	ada.mustWait(t)
	bob.mustWait(t)

	bad.settings["part"] = "pair"
	p.put(t, "bad", bad)
	together(t, ada, bob)
}

package suite

import (
	"net/http"
	"strings"

	"matchmaker.dev/services/sdk/conformance/fixtures"
)

// answerParty plays a party with the player in it.
func (s *service) answerParty(w http.ResponseWriter, c *call) {
	s.mu.Lock()
	none := s.party == nil
	s.mu.Unlock()
	switch c.Kind {
	case "party-read":
		if none {
			s.write(w, c, "party-missing", nil)
			return
		}
	case "party-create":
		s.makeParty("party-created")
		s.writeParty(w, c, "party-created")
		return
	case "join":
		if code, _ := c.Body["code"].(string); code != "K3F9QX2TB" {
			s.write(w, c, "party-missing", nil)
			return
		}
		s.makeParty("party")
		s.changeParty(func(p map[string]any) { p["search"] = nil })
	case "member":
		s.changeParty(func(p map[string]any) {
			members, _ := p["members"].([]any)
			me, _ := members[0].(map[string]any)
			me["ready"] = c.Body["ready"]
		})
	case "party-search":
		t := &ticket{id: "0192f3c0-7d7a-7c53-a0f4-000000000001", state: "waiting"}
		s.change(func() { s.tickets[t.id] = t })
		s.changeParty(func(p map[string]any) { p["search"] = map[string]any{"ticket": t.id, "started": 1730800009123} })
	case "leave":
		if !strings.HasSuffix(c.URL.Path, "/"+player) {
			break // another one is kicked
		}
		s.change(func() { s.left = "left" })
		s.write(w, c, "party-left", nil)
		return
	}
	s.writeParty(w, c, "party")
}

// makeParty begins a party as a fixture has it.
func (s *service) makeParty(name string) {
	a, err := fixtures.Read(name)
	if err != nil {
		s.game.fail("%v", err)
	}
	s.change(func() { s.party = a.Body })
}

// changeParty makes another revision.
func (s *service) changeParty(set func(party map[string]any)) {
	s.change(func() {
		set(s.party)
		revision, _ := s.party["revision"].(float64)
		s.party["revision"] = revision + 1
	})
}

func (s *service) writeParty(w http.ResponseWriter, c *call, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.write(w, c, name, func(body map[string]any) {
		for name := range body {
			body[name] = s.party[name]
		}
	})
}

// streamParty tells of the party until the player is in it no more.
func (s *service) streamParty(w http.ResponseWriter, c *call) {
	open(w, "retry: 1000\n\n")
	for told := any(nil); ; {
		changed := s.watch()
		s.mu.Lock()
		revision, left := s.party["revision"], s.left
		var text string
		if revision != told {
			text = raw("r", "party", s.party)
		}
		if left != "" {
			text = raw("ended", "ended", map[string]any{"id": s.party["id"], "reason": left})
		}
		s.mu.Unlock()
		if text != "" {
			send(w, text)
		}
		if told = revision; left != "" || !wait(c, changed, nil) {
			return
		}
	}
}

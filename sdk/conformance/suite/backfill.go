package suite

import "net/http"

// backfill is the game that a server fills.
type backfill struct {
	// proposed are tickets that join with the next approval; the service tells of them again and again.
	proposed []string
	// gone: the service has no backfill ticket.
	gone bool
	open any
}

func (s *service) answerFill(w http.ResponseWriter, c *call) {
	switch c.Kind {
	case "fill":
		s.setOpen(c)
		s.change(func() { s.gone = false })
		s.write(w, c, "backfill-created", nil)
	case "fill-change":
		s.setOpen(c)
		s.write(w, c, "backfill-put", nil)
	case "fill-end":
		s.write(w, c, "backfill-deleted", nil)
	case "approve":
		s.mu.Lock()
		gone, proposed, open := s.gone, s.proposed, s.open
		s.mu.Unlock()
		if gone {
			s.write(w, c, "backfill-gone", nil)
			return
		}
		s.write(w, c, "backfill-approved", func(body map[string]any) {
			body["attributes"] = map[string]any{"open": open}
			list, _ := body["assignedTickets"].([]any)
			first, _ := list[0].(map[string]any)
			list = nil
			for _, id := range proposed {
				one := map[string]any{}
				for name, value := range first {
					one[name] = value
				}
				one["id"] = id
				list = append(list, one)
			}
			if body["assignedTickets"] = list; list == nil {
				delete(body, "assignedTickets")
			}
		})
	}
}

func (s *service) setOpen(c *call) {
	attributes, _ := c.Body["attributes"].(map[string]any)
	s.change(func() { s.open = attributes["open"] })
}

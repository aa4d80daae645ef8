package suite

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"matchmaker.dev/services/sdk/conformance/fixtures"
)

// eventOf is the event of each state of a ticket.
var eventOf = map[string]string{"waiting": "waiting", "offered": "acceptance", "assigned": "assigned",
	"failed": "assigned", "ended": "ended"}

// message is an event of a stream, as it is sent.
func (s *service) message(kind string, set map[string]any) string {
	events, err := fixtures.Events()
	e, ok := events[kind]
	if err != nil || !ok {
		s.game.fail("fixture of the event %s: %v", kind, err)
		return ""
	}
	for name, value := range set {
		e.Data[name] = value
	}
	return raw(kind, kind, e.Data)
}

// raw is an event with an id and any data.
func raw(id, kind string, data any) string {
	text, _ := json.Marshal(data)
	text = bytes.ReplaceAll(text, []byte(`\u2028`), []byte("\u2028")) // as the service sends it
	return fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", id, kind, text)
}

// open begins a stream of events.
func open(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Correlation-Id", "conform")
	send(w, text)
}

func send(w http.ResponseWriter, text string) {
	_, _ = w.Write([]byte(text))
	_ = http.NewResponseController(w).Flush()
}

// stream follows a ticket or a party. The event that the client has already is not sent again.
func (s *service) stream(w http.ResponseWriter, c *call) {
	if c.Kind == "party-events" {
		s.streamParty(w, c)
		return
	}
	id, last := c.URL.Query().Get("id"), c.Header.Get("Last-Event-ID")
	if s.ticket(id).why == "gone" {
		s.write(w, c, "ticket-gone", nil)
		return
	}
	open(w, "retry: 1000\n\n")
	for told := -1; ; {
		changed := s.watch()
		t := s.ticket(id)
		kind := eventOf[t.state]
		if t.revision != told && (told >= 0 || last != kind) {
			send(w, s.state(t))
		}
		if told = t.revision; t.state != "waiting" && t.state != "offered" || !wait(c, changed, nil) {
			return
		}
	}
}

// state is the event of a ticket's state.
func (s *service) state(t ticket) string {
	set := map[string]any{"id": t.id}
	switch t.state {
	case "ended":
		set["reason"] = t.why
	case "failed":
		failed, err := fixtures.Read("ticket-failed")
		if err != nil {
			s.game.fail("%v", err)
		}
		set["assignment"] = failed.Body["assignment"]
	}
	return s.message(eventOf[t.state], set)
}

// The bad days.

// answers answers a status, with a problem if no body is given.
func answers(status int, header map[string]string, body string) misstep {
	return func(w http.ResponseWriter, _ *call) bool {
		w.Header().Set("Content-Type", "application/problem+json")
		if body == "" {
			body = fmt.Sprintf(`{"type":"about:blank","title":"x","status":%d,"detail":"secret-detail"}`, status)
		}
		for name, value := range header {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
		return false
	}
}

// unavailable answers 503 with Retry-After.
func unavailable(retryAfter string) misstep {
	return answers(http.StatusServiceUnavailable, map[string]string{"Retry-After": retryAfter}, "")
}

// last has the connection end behind the answer.
func last(w http.ResponseWriter, _ *call) bool {
	w.Header().Set("Connection", "close")
	return true
}

// cut breaks the connection without an answer.
func cut(w http.ResponseWriter, _ *call) bool {
	if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
		_ = connection.Close()
	}
	return false
}

// silent sends nothing, for as long as the client stays. first is sent before that.
func silent(first string) misstep {
	return func(w http.ResponseWriter, c *call) bool {
		if first != "" {
			open(w, first)
		}
		<-c.Context().Done()
		return false
	}
}

// streams sends events and breaks the stream.
func streams(text ...string) misstep {
	return func(w http.ResponseWriter, _ *call) bool {
		open(w, "")
		for _, one := range text {
			send(w, one)
		}
		return cut(w, nil)
	}
}

// sends sends events and ends the stream when the client goes, or after a minute.
func sends(text ...string) misstep {
	return func(w http.ResponseWriter, c *call) bool {
		open(w, "")
		for _, one := range text {
			send(w, one)
		}
		select {
		case <-c.Context().Done():
		case <-time.After(time.Minute):
		}
		return false
	}
}

// answerLost carries the request out, and loses the answer: all of it, or all behind so many bytes.
func (s *service) answerLost(behind int) misstep {
	return func(w http.ResponseWriter, c *call) bool {
		kept := &keeper{header: http.Header{}}
		s.answer(kept, c)
		if behind > 0 {
			for name := range kept.header {
				w.Header().Set(name, kept.header.Get(name))
			}
			w.Header().Set("Content-Length", fmt.Sprint(len(kept.body)))
			w.WriteHeader(kept.status)
			send(w, string(kept.body[:behind]))
		}
		return cut(w, c)
	}
}

// keeper is an answer that is not sent.
type keeper struct {
	header http.Header
	status int
	body   []byte
}

func (k *keeper) Header() http.Header         { return k.header }
func (k *keeper) WriteHeader(status int)      { k.status = status }
func (k *keeper) Write(p []byte) (int, error) { k.body = append(k.body, p...); return len(p), nil }

// huge answers a body without an end.
func (s *service) huge(w http.ResponseWriter, c *call) bool {
	w.Header().Set("Content-Type", "application/json")
	line := make([]byte, 64<<10)
	for i := range line {
		line[i] = ' '
	}
	for sent := 0; sent < 256<<20; sent += len(line) {
		if n, err := w.Write(line); err != nil || n < len(line) {
			return false
		}
		s.change(func() { c.Sent += int64(len(line)) })
	}
	return false
}

package suite

import (
	"context"
	"crypto/rand"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"
)

// mistake makes a driver wrong from without, in any language: lines and requests are changed on their way.
type mistake struct {
	command func(c map[string]any)
	event   func(e event) []event
	request func(c *call)
	// answer returns which status an answer has.
	answer func(status int) int
}

// mistakes are by the row that finds them.
var mistakes = map[string]mistake{
	"a match, with connection and seat pass":  edits("matched", func(e event) { delete(e, "seat") }),
	"no match: the function's error":          edits("failed", func(e event) { delete(e, "detail") }),
	"no match: the ticket ended, and why":     edits("failed", func(e event) { e["reason"] = "gone" }),
	"an estimate":                             edits("estimate", func(e event) { e["low"] = 0.0 }),
	"accepted, though the answer was lost":    adds("matched", event{"event": "error"}),
	"a match that asks is declined":           hears("decline", "accept"),
	"cancelled":                               hears("cancel", "resume"),
	"too late to cancel: here is your match":  asks(http.MethodDelete, plainly),
	"cancelled, though the answer was lost":   hears("cancel", "resume"),
	"cancelled before the ticket was there":   hears("cancel", "resume"),
	"the answer to a create never comes":      patient,
	"the answer to a read is cut in its body": says("matched", "event", "error"),
	"nobody is there":                         says("error", "code", "busy"),
	"a match that asks is offered with the time that is left, and accepted": edits("offered",
		func(e event) { e["remaining"] = 0.0 }),
	"the answer to a create is lost: the same key, one ticket": asks(http.MethodPost, otherKeys),
	"the answer to a create is cut in its body":                asks(http.MethodPost, otherKeys),

	"each answer ends its connection": says("matched", "event", "error"),

	"503 with Retry-After: no sooner":               hasty,
	"503 without Retry-After: more and more time":   hasty,
	"429 without Retry-After: more and more time":   hasty,
	"Retry-After is no time: more and more time":    hasty,
	"503 for ever: six tries, then busy":            says("error", "code", "offline"),
	"503 to a read":                                 hasty,
	"503 to a stream: no sooner than Retry-After":   hasty,
	"Retry-After is a date, and the clock is wrong": hasty,
	"waits differ": slower(2.1),
	"a service that holds no requests is not asked at once again": hasty,

	"a stream that is cut in an event is opened again, behind the last one": asks(http.MethodGet,
		func(c *call) { c.Header.Del("Last-Event-ID") }),
	"a gap in the events":                            says("searching", "event", "error"),
	"events come twice":                              {event: twice},
	"events come out of order":                       adds("matched", event{"event": "offered"}),
	"unknown events and members":                     says("matched", "event", "error"),
	"a stream that falls silent is given up":         patient,
	"a proxy keeps the stream back: long polls":      patient,
	"a proxy keeps even the header back: long polls": patient,
	"there is no stream: long polls":                 replaces(405, 403),
	"long polls tell of a match that asks":           says("offered", "event", "other"),

	"401: another token, and once more":                  {command: oneToken},
	"401 to a stream":                                    {command: oneToken},
	"401 to every token: an error, and no more requests": replaces(401, 503),
	"a token is replaced before it ends":                 {command: oneToken},
	"there is no token: an error, and no request":        {command: goodToken},
	"the clock is an hour fast":                          adds("token", event{"event": "token"}),
	"the clock is an hour slow":                          adds("token", event{"event": "token"}),

	"suspended, and matched meanwhile":                        hears("suspend", "resume"),
	"suspended, and the ticket ended meanwhile":               hears("resume", "suspend"),
	"a crash before the create was answered: the same ticket": hears("restore", "search"),
	"a crash while the ticket waits: the same ticket":         hears("restore", "search"),
	"nothing to go on with":                                   hears("restore", "search"),
	"nothing to go on with after a cancel":                    hears("restore", "search"),

	"a page with 502: repeated, then busy": says("error", "code", "unexpected"),
	"a page with 502 once":                 replaces(502, 500),
	"a page with 404 to a read is no end: an error, and the same ticket after a crash": hears("restore", "search"),
	"a page with 404 to a cancel: an error, and the same ticket after a crash":         hears("restore", "search"),

	"a page with 200":                                                  says("error", "player", "<html>secret"),
	"a redirect is not followed":                                       replaces(307, 503),
	"a redirect: an error, and no token for another host":              replaces(301, 503),
	"Retry-After is years: busy, at once":                              says("error", "code", "offline"),
	"a stream is to be opened again in years: within two minutes":      late(http.MethodGet),
	"an answer that comes drop by drop is given up after five minutes": late(http.MethodPost),
	"a header without end is not read on":                              asks(http.MethodPost, tookAll),
	"200 and no stream, drop by drop: given up within five minutes":    late(http.MethodGet),
	"503 and no stream, drop by drop: given up within five minutes":    late(http.MethodGet),
	"an answer of 700,000 members: refused where values are counted, else taken": {event: func(e event) []event {
		if e.kind() == "error" || e.kind() == "matched" {
			return []event{{"event": "error", "code": "busy"}}
		}
		return []event{e}
	}},
	"a ticket's id of half a character, or 70,000: an end, and the next search": says("matched", "event", "error"),
	"a token that no header can have: an error, and no request":                 {command: goodToken},
	"an event's id that no header can have is left out": asks(http.MethodGet,
		func(c *call) { c.Header.Del("Last-Event-ID") }),
	"a beacon's answer without end is not read on": ofRegion(func(r map[string]any) { r["rtt"] = 1.0 }),
	"regions that are nowhere, and more than 64: left out": edits("latencies", func(e event) {
		e["regions"] = append(listOf(e), map[string]any{"region": "x"})
	}),
	"regions of other shapes: an error or none of them, and then those that are": ofRegion(func(r map[string]any) {
		r["rtt"] = 0.001
	}),
	"a body without end is not read on":          asks(http.MethodPost, tookAll),
	"an event without end is not read on":        asks(http.MethodGet, tookAll),
	"Bad Request: invalid, at once":              replaces(400, 503),
	"Forbidden: forbidden, at once":              replaces(403, 503),
	"Conflict: conflict, at once":                replaces(409, 503),
	"Request Entity Too Large: invalid, at once": replaces(413, 503),
	"Unprocessable Entity: invalid, at once":     replaces(422, 409),

	"a party by code, ready, and its match":   edits("party", func(e event) { e["members"] = nil }),
	"a code that there is not":                replaces(404, 409),
	"a party's events twice and out of order": {event: twice},
	"kicked from a party":                     says("left", "reason", "gone"),
	"a party is left":                         hears("party-leave", "resume"),
	"a player's id of half a character: U+FFFD in a path": asks(http.MethodDelete, func(c *call) {
		c.RequestURI = "/members/b"
	}),
	"acting for a player whose id has half a character: U+FFFD in a header": {request: func(c *call) {
		c.Header.Del("X-On-Behalf-Of")
	}},

	"a running game is filled: who joins is told once": {event: twice},
	"approvals come once a second":                     hasty,
	"a running game has other places": {command: func(c map[string]any) {
		if c["do"] == "fill" {
			c["open"] = 3
		}
	}},
	"the service has lost the game: it is told again": replaces(404, 503),
	"a game takes no more players":                    hears("fill-end", "resume"),
	"a seat pass":                                     says("seat", "player", "bob"),
	"a seat pass for another match":                   says("seat", "ok", true),
	"a seat pass that has ended":                      says("seat", "ok", true),
	"a seat pass that is forged":                      says("seat", "ok", true),

	"regions are measured, and the ticket has their receipts": {command: func(c map[string]any) { delete(c, "measured") }},
	"latencies are kept for each network, half as long as receipts are believed": {command: func(c map[string]any) {
		if c["do"] == "measure" {
			c["network"] = rand.Text()
		}
	}},
	"a region that is deaf is measured by HTTP, without the token": ofRegion(func(r map[string]any) { delete(r, "rtt") }),
	"deaf regions hold up no other one":                            ofRegion(func(r map[string]any) { r["rtt"] = 1.0 }),
	"what a beacon did not answer is left out":                     ofRegion(func(r map[string]any) { r["rtt"] = 0.001 }),
	"no receipt of another nonce, of garbage, or longer than the question": ofRegion(func(r map[string]any) {
		r["receipts"] = []any{"AQ"}
	}),
	"other sources are measured, without receipts": ofRegion(func(r map[string]any) { r["receipts"] = []any{"AQ"} }),
}

var (
	hasty   = slower(0.1)
	patient = slower(1000)
)

// slower is a driver whose times pass so much slower.
func slower(by float64) mistake {
	return mistake{command: func(c map[string]any) {
		if scale, ok := c["scale"].(float64); ok {
			c["scale"] = scale * by
		}
	}}
}

// hears takes a command for another one.
func hears(command, other string) mistake {
	return mistake{command: func(c map[string]any) {
		if c["do"] == command {
			c["do"] = other
		}
	}}
}

// oneToken answers with a token that the service has refused, or has seen before.
func oneToken(c map[string]any) {
	if c["do"] == "token" {
		c["token"] = "always.the.same"
	}
}

// goodToken answers with a token where there is none.
func goodToken(c map[string]any) {
	if c["do"] == "token" {
		c["token"] = "some"
		delete(c, "error")
	}
}

// edits changes the events of a kind.
func edits(kind string, change func(event)) mistake {
	return mistake{event: func(e event) []event {
		if e.kind() == kind {
			change(e)
		}
		return []event{e}
	}}
}

func says(kind, member string, value any) mistake {
	return edits(kind, func(e event) { e[member] = value })
}

// ofRegion changes what is said of each region.
func ofRegion(change func(map[string]any)) mistake {
	return edits("latencies", func(e event) {
		for _, one := range listOf(e) {
			if of, ok := one.(map[string]any); ok {
				change(of)
			}
		}
	})
}

// adds adds an event behind each one of a kind.
func adds(kind string, more event) mistake {
	return mistake{event: func(e event) []event {
		if e.kind() == kind {
			return []event{e, more}
		}
		return []event{e}
	}}
}

func twice(e event) []event { return []event{e, e} }

// asks changes the requests of a method.
func asks(method string, change func(*call)) mistake {
	return mistake{request: func(c *call) {
		if c.Method == method {
			change(c)
		}
	}}
}

func otherKeys(c *call) { c.Header.Set("Idempotency-Key", `"`+rand.Text()+`"`) }

// late is a driver whose requests of a method come a minute later each.
func late(method string) mistake {
	var n atomic.Int64
	return asks(method, func(c *call) { c.Began = c.Began.Add(time.Duration(n.Add(1)) * time.Minute) })
}

// tookAll has taken what is more than any answer.
func tookAll(c *call) { c.Sent = 24 << 20 }

// plainly asks for the ticket, and nothing besides.
func plainly(c *call) { c.URL.RawQuery = url.Values{"id": {c.URL.Query().Get("id")}}.Encode() }

// replaces takes a status for another one.
func replaces(status, other int) mistake {
	return mistake{answer: func(of int) int {
		if of == status {
			return other
		}
		return of
	}}
}

// mistaken is how an answer is written that a mistake changes.
type mistaken struct {
	http.ResponseWriter
	change func(int) int
	sent   bool
}

func (f *mistaken) Unwrap() http.ResponseWriter { return f.ResponseWriter }

func (f *mistaken) WriteHeader(status int) {
	f.sent = true
	f.ResponseWriter.WriteHeader(f.change(status))
}

func (f *mistaken) Write(p []byte) (int, error) {
	if !f.sent {
		f.WriteHeader(http.StatusOK)
	}
	return f.ResponseWriter.Write(p)
}

// RunWrong plays rows to a driver that is made wrong in what each row is about, and returns the rows that do not fail.
func RunWrong(ctx context.Context, o Options, rows []Row) ([]string, error) {
	o.wrong = true
	// A machine may be so slow that a driver that is too fast is not.
	for tries := 4; len(rows) > 0 && tries > 0; tries-- {
		results, err := Run(ctx, o, rows)
		if err != nil {
			return nil, err
		}
		var passed []Row
		for i, r := range rows {
			if results[i] == nil {
				passed = append(passed, r)
			}
		}
		rows = passed
	}
	var names []string
	for _, r := range rows {
		names = append(names, r.Name)
	}
	return names, nil
}

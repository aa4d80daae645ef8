package suite

import (
	"context"
	"time"
)

// Rows are all behaviours.
func Rows() []Row {
	var rows []Row
	for _, some := range [][]Row{searches(), answersLost(), busy(), streamsBroken(), tokens(), lives(), nonsense(),
		parties(), servers(), measures()} {
		rows = append(rows, some...)
	}
	return rows
}

// searches are good days.
func searches() []Row {
	return []Row{
		{Name: "a match, with connection and seat pass", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			m := g.match()
			g.check(m.text("connection") == "203.0.113.7:7777" && len(m.text("seat")) > 20 && m.text("ticket") != "",
				"matched is %v", m)
			g.one()
		}},
		{Name: "no match: the function's error", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.service.set("failed", "")
			f := g.expect("failed")
			g.check(f.text("reason") == "assignment" && f.text("detail") == "PoolTimeout", "failed is %v", f)
		}},
		{Name: "no match: the ticket ended, and why", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.service.set("ended", "abandoned")
			f := g.expect("failed")
			g.check(f.text("reason") == "abandoned", "failed is %v", f)
		}},
		{Name: "an estimate", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.do("estimate")
			e := g.expect("estimate")
			g.check(e["low"] == 4000.0 && e["high"] == 9000.0, "estimate is %v", e)
		}},
		{Name: "a match that asks is offered with the time that is left, and accepted", Needs: "player",
			play: func(ctx context.Context, g *game) {
				g.following(ctx)
				asked := g.now()
				g.service.set("offered", "")
				o := g.expect("offered")
				left, _ := o["remaining"].(float64)
				least := 19000 - float64(g.now().Sub(asked).Milliseconds())
				g.check(left <= 20000 && left >= least && o["players"] == 2.0 && o["accepted"] == 0.0, "offered is %v", o)
				g.do("accept")
				g.expect("matched")
				g.check(g.waitForCalls(1, "answer")[0].Body["match"] == o["match"], "another match was answered")
			}},
		{Name: "accepted, though the answer was lost", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.service.set("offered", "")
			g.expect("offered")
			// The repetition comes when the match asks no more.
			g.service.on("answer", g.service.answerLost(0), answers(409, nil, ""))
			g.do("accept")
			g.expect("matched")
			g.waitForCalls(2, "answer")
			g.passes(time.Second)
			g.settled()
			g.check(g.count("error") == 0, "an answer that was taken is an error")
		}},
		{Name: "a match that asks is declined", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.service.set("offered", "")
			g.expect("offered")
			g.do("decline")
			f := g.expect("failed")
			g.check(f.text("reason") == "declined", "failed is %v", f)
		}},
		{Name: "cancelled", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.do("cancel")
			g.expect("cancelled")
			g.settled()
			g.check(g.count("matched")+g.count("failed")+g.count("late") == 0, "another end came too")
			g.check(len(g.service.of("delete")) == 1, "the ticket was not deleted once")
		}},
		{Name: "too late to cancel: here is your match", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			// The match is made while the request is on its way.
			g.service.on("delete", g.service.assigned)
			g.service.always("events", silent("retry: 1000\n\n"))
			g.do("cancel")
			g.expect("late")
			g.expect("matched")
		}},
		{Name: "cancelled, though the answer was lost", Needs: "player", play: func(ctx context.Context, g *game) {
			g.following(ctx)
			g.service.on("delete", g.service.answerLost(0))
			g.do("cancel")
			g.expect("cancelled")
			g.waited(g.waitForCalls(2, "delete"), 1, time.Second)
		}},
		{Name: "cancelled before the ticket was there", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("create", answers(503, nil, ""))
			g.search(ctx)
			g.waitForCalls(1, "create")
			g.do("cancel")
			g.expect("cancelled")
			g.check(len(g.service.of("create")) <= 3, "a search that is cancelled goes on")
		}},
	}
}

// answersLost are networks that lose answers.
func answersLost() []Row {
	again := func(ctx context.Context, g *game, f misstep) {
		g.service.on("create", f)
		g.search(ctx)
		creates := g.waitForCalls(2, "create")
		key := creates[0].Header.Get("Idempotency-Key")
		g.check(key != "" && key == creates[1].Header.Get("Idempotency-Key"), "the repetition has another Idempotency-Key")
		g.waited(creates, 1, time.Second)
		g.match()
		g.one()
	}
	return []Row{
		{Name: "the answer to a create is lost: the same key, one ticket", Needs: "player",
			play: func(ctx context.Context, g *game) { again(ctx, g, g.service.answerLost(0)) }},
		{Name: "the answer to a create is cut in its body", Needs: "player",
			play: func(ctx context.Context, g *game) { again(ctx, g, g.service.answerLost(9)) }},
		{Name: "the answer to a create never comes", Needs: "player", Scale: 0.02,
			play: func(ctx context.Context, g *game) { again(ctx, g, silent("")) }},
		{Name: "the answer to a read is cut in its body", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("events", answers(406, nil, ""))
			g.service.on("read", g.service.answerLost(20))
			g.search(ctx)
			g.waited(g.waitForCalls(2, "read"), 1, time.Second)
			g.match()
		}},
		{Name: "each answer ends its connection", Needs: "player", play: func(ctx context.Context, g *game) {
			g.service.always("events", answers(406, nil, ""))
			for _, kind := range []string{"create", "read"} {
				g.service.always(kind, last)
			}
			g.search(ctx)
			g.waitForCalls(1, "read")
			g.match()
			g.check(len(g.service.of("create")) == 1, "an answer was not taken")
		}},
		{Name: "nobody is there", Needs: "player", Scale: 0.02, play: func(ctx context.Context, g *game) {
			g.service.always("create", cut)
			g.service.always("find", cut)
			g.search(ctx)
			g.expectError("offline")
			g.bounded("create")
		}},
	}
}

// bounded checks that a call was sent at most six times.
func (g *game) bounded(kind string) {
	n := len(g.service.of(kind))
	g.check(n <= 6, "%s was sent %d times, six at most are expected", kind, n)
	g.check(n >= 2, "%s was not repeated", kind)
}

// expectError expects an error of a code, with a text for the player that says nothing of the request.
func (g *game) expectError(code string) {
	e := g.expect("error")
	g.check(e.text("code") == code, "the error is %q, and not %s", e.text("code"), code)
	text := e.text("player")
	g.check(len(text) > 10 && len(text) < 200, "the player is told %q", text)
	for _, secret := range []string{"http", "127.0.0.1", "secret", "<", "ticket-", "0192f3c0", "eyJ", player} {
		g.check(!contains(text, secret), "the player is told %q", text)
	}
}

// busy are services that have too much to do.
func busy() []Row {
	return []Row{
		{Name: "503 with Retry-After: no sooner", Needs: "player", Scale: 0.2, play: func(ctx context.Context, g *game) {
			g.service.on("create", unavailable("6"))
			g.search(ctx)
			g.waited(g.waitForCalls(2, "create"), 1, 6*time.Second)
			g.match()
		}},
		{Name: "503 without Retry-After: more and more time", Needs: "player", play: backsOff("create", 503, "", "", "")},
		{Name: "429 without Retry-After: more and more time", Needs: "player", play: backsOff("create", 429, "", "", "")},
		{Name: "Retry-After is no time: more and more time", Needs: "player",
			play: backsOff("create", 503, "-5", "99999999999999999999", "Wed, 99 Foo 2030 7 GMT")},
		{Name: "503 for ever: six tries, then busy", Needs: "player", Scale: 0.02, play: func(ctx context.Context, g *game) {
			g.service.always("create", answers(503, nil, ""))
			g.search(ctx)
			g.expectError("busy")
			g.bounded("create")
		}},
		{Name: "503 to a read", Needs: "player", Scale: 0.2, play: func(ctx context.Context, g *game) {
			g.service.always("events", answers(406, nil, ""))
			g.service.on("read", unavailable("5"))
			g.search(ctx)
			g.waited(g.waitForCalls(2, "read"), 1, 5*time.Second)
			g.match()
		}},
		{Name: "503 to a stream: no sooner than Retry-After", Needs: "player", Scale: 0.2,
			play: func(ctx context.Context, g *game) {
				g.service.on("events", unavailable("6"))
				g.search(ctx)
				calls := g.waitForCalls(2, "events", "read")
				g.waited(calls, 1, 6*time.Second)
				g.match()
			}},
		{Name: "Retry-After is a date, and the clock is wrong", Needs: "player", play: func(ctx context.Context, g *game) {
			g.clock = time.Hour
			g.service.on("create", answers(429, map[string]string{"Date": "Wed, 02 Jan 2030 07:00:00 GMT",
				"Retry-After": "Wed, 02 Jan 2030 07:00:08 GMT"}, ""))
			g.search(ctx)
			g.waited(g.waitForCalls(2, "create"), 1, 8*time.Second)
			g.match()
		}},
		// An SDK that draws its waits has one that is shorter than 2^n seconds, soon.
		{Name: "waits differ", Needs: "player", Scale: 0.05, play: func(ctx context.Context, g *game) {
			g.start(ctx)
			for range 25 {
				g.service.on("create", answers(429, nil, ""), answers(429, nil, ""))
				before := len(g.service.of("create"))
				g.do("search")
				calls := g.waitForCalls(before+3, "create")[before:]
				if g.shorter(calls, 1) || g.shorter(calls, 2) || g.failed() {
					return
				}
				g.match()
			}
			g.fail("all waits are as long as 2^n seconds")
		}},
	}
}

// shorter reports whether the wait before the n-th repetition was shorter than 2^n seconds.
func (g *game) shorter(calls []*call, n int) bool {
	return calls[n].Began.Sub(calls[n-1].Began) < g.real(time.Duration(1<<n)*time.Second)-5*time.Millisecond
}

// backsOff answers a status for each Retry-After, which says nothing.
func backsOff(kind string, status int, retryAfter ...string) func(context.Context, *game) {
	return func(ctx context.Context, g *game) {
		for _, value := range retryAfter {
			header := map[string]string{}
			if value != "" {
				header["Retry-After"] = value
			}
			g.service.on(kind, answers(status, header, ""))
		}
		g.search(ctx)
		calls := g.waitForCalls(len(retryAfter)+1, kind)
		for n := range retryAfter {
			n++
			g.waited(calls, n, time.Duration(1<<n-n)*time.Second)
		}
		g.match()
		g.one()
	}
}

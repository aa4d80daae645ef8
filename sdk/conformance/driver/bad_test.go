package main

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/sdk/conformance/suite"
)

// bad are drivers by the row that finds them. Each is wrong in one way.
var bad = map[string]func(*driver){
	"a match, with connection and seat pass":    edit("matched", func(e event) { delete(e, "seat") }),
	"no match: the function's error":            edit("failed", func(e event) { delete(e, "detail") }),
	"no match: the ticket ended, and why":       edit("failed", func(e event) { e["reason"] = "gone" }),
	"an estimate":                               edit("estimate", func(e event) { e["low"] = 0 }),
	"a match that asks is declined":             hears("decline", "accept"),
	"cancelled":                                 via(unless(http.MethodDelete), nil),
	"too late to cancel: here is your match":    via(asks("DELETE", plainly), nil),
	"cancelled, though the answer was lost":     noReconnects,
	"cancelled before the ticket was there":     hears("cancel", "resume"),
	"the answer to a create is cut in its body": noReconnects,
	"the answer to a create never comes":        patient,
	"the answer to a read is cut in its body":   noReconnects,
	"nobody is there":                           stubborn,
	"a match that asks is offered with the time that is left, and accepted": edit("offered",
		func(e event) { e["remaining"] = 0 }),
	"the answer to a create is lost: the same key, one ticket": via(asks("POST", func(r *http.Request) {
		r.Header.Set("Idempotency-Key", `"`+rand.Text()+`"`)
	}), nil),

	"503 with Retry-After: no sooner":               hasty,
	"503 without Retry-After: more and more time":   hasty,
	"429 without Retry-After: more and more time":   hasty,
	"503 for ever: six tries, then busy":            stubborn,
	"503 to a read":                                 hasty,
	"503 to a stream: no sooner than Retry-After":   hasty,
	"Retry-After is a date, and the clock is wrong": via(nil, func(a *http.Response) { a.Header.Del("Date") }),
	"waits differ": options(func(o *client.Options) { o.Retry.Rand = func() float64 { return 0.5 } }),
	"a service that holds no requests is not asked at once again": hasty,

	"a stream that is cut in an event is opened again, behind the last one": via(asks("GET",
		func(r *http.Request) { r.Header.Del("Last-Event-ID") }), nil),
	"a gap in the events":                            edit("searching", func(e event) { e["event"] = "error" }),
	"events come twice":                              twice,
	"events come out of order":                       after("matched", event{"event": "offered"}),
	"unknown events and members":                     via(nil, strict),
	"a stream that falls silent is given up":         patient,
	"a proxy keeps the stream back: long polls":      patient,
	"a proxy keeps even the header back: long polls": patient,
	"there is no stream: long polls":                 answered(405, 403),
	"long polls tell of a match that asks":           edit("offered", func(e event) { e["event"] = "other" }),

	"401: another token, and once more":                  token(true),
	"401 to a stream":                                    token(true),
	"401 to every token: an error, and no more requests": answered(401, 503),
	"a token is replaced before it ends":                 token(true),
	"there is no token: an error, and no request": options(func(o *client.Options) {
		o.Token = client.StaticToken("some")
	}),
	"the clock is an hour fast": token(false),
	"the clock is an hour slow": token(false),

	"suspended, and matched meanwhile":                        hears("suspend", "resume"),
	"suspended, and the ticket ended meanwhile":               hears("resume", "suspend"),
	"a crash before the create was answered: the same ticket": keeps(withTicket),
	"a crash while the ticket waits: the same ticket":         keeps(func(*client.SavedSearch) bool { return false }),
	"nothing to go on with":                                   hears("restore", "search"),
	"nothing to go on with after a cancel":                    keeps(func(s *client.SavedSearch) bool { return s != nil }),

	"a page with 502: repeated, then busy":       stubborn,
	"a page with 502 once":                       answered(502, 500),
	"a page with 200":                            edit("error", func(e event) { e["player"] = "<html>secret" }),
	"a redirect is not followed":                 options(func(o *client.Options) { o.HTTP = &http.Client{} }),
	"a body without end is not read on":          func(d *driver) { patient(d); via(nil, greedy)(d) },
	"an event without end is not read on":        func(d *driver) { patient(d); via(nil, greedy)(d) },
	"Bad Request: invalid, at once":              answered(400, 503),
	"Forbidden: forbidden, at once":              answered(403, 503),
	"Conflict: conflict, at once":                answered(409, 503),
	"Request Entity Too Large: invalid, at once": answered(413, 503),
	"Unprocessable Entity: invalid, at once":     answered(422, 409),

	"a party by code, ready, and its match":   edit("party", func(e event) { e["members"] = nil }),
	"a code that there is not":                answered(404, 409),
	"a party's events twice and out of order": twice,
	"kicked from a party":                     edit("left", func(e event) { e["reason"] = "gone" }),
	"a party is left":                         hears("party-leave", "resume"),

	"a running game is filled: who joins is told once": twice,
	"approvals come once a second":                     func(d *driver) { d.hear = func(c *command) { c.Scale /= 10 } },
	"a running game has other places":                  func(d *driver) { d.hear = func(c *command) { c.Open = 3 } },
	"the service has lost the game: it is told again":  answered(404, 503),
	"a game takes no more players":                     hears("fill-end", "resume"),
	"a seat pass":                                      edit("seat", func(e event) { e["player"] = "bob" }),
	"a seat pass for another match":                    trusting,
	"a seat pass that has ended":                       trusting,
	"a seat pass that is forged":                       trusting,
}

// edit changes the events of a kind.
func edit(kind string, change func(event)) func(*driver) {
	return func(d *driver) {
		write := d.write
		d.write = func(e event) {
			if e["event"] == kind {
				change(e)
			}
			write(e)
		}
	}
}

func trusting(d *driver) { edit("seat", func(e event) { e["ok"] = true })(d) }

// after adds an event behind each one of a kind.
func after(kind string, more event) func(*driver) {
	return func(d *driver) {
		write := d.write
		d.write = func(e event) {
			if write(e); e["event"] == kind {
				write(more)
			}
		}
	}
}

// twice tells all but its own and tokens' events twice.
func twice(d *driver) {
	write := d.write
	d.write = func(e event) {
		if write(e); e["event"] != "token" && e["event"] != "ready" {
			write(e)
		}
	}
}

// hears takes a command for another one.
func hears(command, for_ string) func(*driver) {
	return func(d *driver) { d.hear = rename(command, for_) }
}

func rename(from, to string) func(*command) {
	return func(c *command) {
		if c.Do == from {
			c.Do = to
		}
	}
}

// keeps keeps some of what is to be kept over a crash.
func keeps(which func(*client.SavedSearch) bool) func(*driver) {
	return func(d *driver) {
		d.store = func(s *client.SavedSearch) {
			if which(s) {
				d.save(s)
			}
		}
	}
}

// options changes how the client is made, behind other changes.
func options(change func(*client.Options)) func(*driver) {
	return func(d *driver) {
		before := d.options
		d.options = func(o *client.Options) {
			before(o)
			change(o)
		}
	}
}

var (
	noReconnects = options(func(o *client.Options) { o.Retry.Reconnects = -1 })
	patient      = options(func(o *client.Options) { o.Retry.Scale = 1000 })
	hasty        = options(func(o *client.Options) { o.Retry.Sleep = atOnce })
	stubborn     = options(func(o *client.Options) {
		o.Retry.Sleep, o.Retry.Attempts, o.Retry.Reconnects = atOnce, 20, 20
	})
)

func atOnce(ctx context.Context, _ time.Duration) error { return ctx.Err() }

// token asks for one token and keeps it, or asks at each request.
func token(once bool) func(*driver) {
	return func(d *driver) {
		var kept string
		d.options = func(o *client.Options) {
			o.Token = func(ctx context.Context) (_ string, err error) {
				if kept == "" || !once {
					kept, err = d.askToken(ctx, client.TokenFirst)
				}
				return kept, err
			}
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// via changes requests and answers. A request for which send is false is not sent, but answered 200.
func via(send func(*http.Request) bool, change func(*http.Response)) func(*driver) {
	return options(func(o *client.Options) {
		o.HTTP = &http.Client{
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				if send != nil && !send(r) {
					return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, nil
				}
				a, err := http.DefaultTransport.RoundTrip(r)
				if err == nil && change != nil {
					change(a)
				}
				return a, err
			}),
		}
	})
}

// asks changes the requests of a method.
func asks(method string, change func(*http.Request)) func(*http.Request) bool {
	return func(r *http.Request) bool {
		if r.Method == method {
			change(r)
		}
		return true
	}
}

func unless(method string) func(*http.Request) bool {
	return func(r *http.Request) bool { return r.Method != method }
}

// plainly asks for the ticket, and nothing besides.
func plainly(r *http.Request) { r.URL.RawQuery = url.Values{"id": {r.URL.Query().Get("id")}}.Encode() }

func withTicket(s *client.SavedSearch) bool { return s.Ticket != "" }

// answered takes a status for another one.
func answered(status, for_ int) func(*driver) {
	return via(nil, func(a *http.Response) {
		if a.StatusCode == status {
			a.StatusCode = for_
		}
	})
}

// greedy reads all that there is, up to 40 MiB.
func greedy(a *http.Response) {
	if a.StatusCode == http.StatusOK {
		_, _ = io.CopyN(io.Discard, a.Body, 40<<20)
	}
}

// strict refuses what it does not know.
func strict(a *http.Response) {
	if a.StatusCode == http.StatusCreated {
		text, _ := io.ReadAll(a.Body)
		a.Body = io.NopCloser(strings.NewReader(strings.ReplaceAll(string(text), `"unheardOf":`, "")))
	}
}

// Each row fails for the driver that is wrong in what it is about.
func TestEachRowCanFail(t *testing.T) {
	t.Parallel()
	rows := rows()
	for _, r := range rows {
		if bad[r.Name] == nil {
			t.Errorf("%s: no driver is wrong in this", r.Name)
		}
	}
	// A machine may be so slow that a driver that is too fast is not.
	for left := 3; len(rows) > 0; left-- {
		var passed []suite.Row
		for i, err := range run(t, func(r suite.Row) string { return r.Name }, 4*time.Second, rows) {
			if err == nil || errors.Is(err, suite.ErrLacks) {
				passed = append(passed, rows[i])
				continue
			}
			t.Logf("%s: %v", rows[i].Name, err)
		}
		if rows = passed; left == 0 && len(rows) > 0 {
			t.Fatalf("a bad driver passes %q, and %d others", rows[0].Name, len(rows)-1)
		}
	}
}

package client_test

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"matchmaker.dev/pkg/client"
)

const (
	partyJSON = `{"id":"p/1","code":"K3F9QX2TB","leader":"ada","created":5,"revision":7,"size":4,"members":[
		{"id":"ada","joined":5,"ready":true,"attributes":{"skill":1},"properties":{"hat":"cmVk"}},
		{"id":"bob","joined":6,"ready":false}],"search":{"ticket":"t1","started":8}}`
	parties = "/demo/matchmaking/api/v1/parties"
)

// partyCalls are the calls of the Parties API, as the contract has them on the wire.
var partyCalls = []struct {
	name   string
	call   func(ctx context.Context, c *client.Client) (*client.Party, error)
	line   string
	player string // whom the header names
	body   string
	ends   bool // the answer is 204
	once   bool // it is not sent again when its answer was lost
}{{
	name: "create",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.CreateParty(ctx, 4, client.PartyMembership{Player: "ada", Attributes: map[string]float64{"skill": 1},
			Properties: map[string][]byte{"hat": []byte("red")}})
	},
	line: "POST " + parties, player: "ada", once: true,
	body: `{"size":4,"ready":true,"attributes":{"skill":1},"properties":{"hat":"cmVk"}}`,
}, {
	name: "join",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.JoinParty(ctx, "k3f-9qx 2tb", client.PartyMembership{Player: "bob", NotReady: true})
	},
	line: "POST " + parties + "/members", player: "bob", body: `{"code":"k3f-9qx 2tb","ready":false}`,
}, {
	name: "mine",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) { return c.MyParty(ctx, "ada") },
	line: "GET " + parties, player: "ada",
}, {
	name: "mine by a player's token",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) { return c.MyParty(ctx, "") },
	line: "GET " + parties,
}, {
	name: "get",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.GetParty(ctx, "p/1", "ada")
	},
	line: "GET " + parties + "/p%2F1", player: "ada",
}, {
	name: "update",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.UpdatePartyMember(ctx, "p/1", "b/b", client.PartyMembership{Player: "eve", NotReady: true})
	},
	line: "PUT " + parties + "/p%2F1/members/b%2Fb", player: "b/b", body: `{"ready":false}`,
}, {
	name: "leave",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return nil, c.LeaveParty(ctx, "p/1", "b/b")
	},
	line: "DELETE " + parties + "/p%2F1/members/b%2Fb", player: "b/b", ends: true,
}, {
	name: "kick",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.KickPartyMember(ctx, "p/1", "b/b", "ada")
	},
	line: "DELETE " + parties + "/p%2F1/members/b%2Fb", player: "ada", once: true,
}, {
	name: "lead",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.SetPartyLeader(ctx, "p/1", "b/b", "ada")
	},
	line: "PUT " + parties + "/p%2F1/leader", player: "ada", body: `{"player":"b/b"}`,
}, {
	name: "renew the code",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.RenewPartyCode(ctx, "p/1", "ada")
	},
	line: "POST " + parties + "/p%2F1/code", player: "ada",
}, {
	name: "start",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.StartPartySearch(ctx, "p/1", client.TicketRequest{Player: "ada",
			Attributes: map[string]float64{"mode": 2}, Queues: []string{"ranked"}})
	},
	line: "PUT " + parties + "/p%2F1/search", player: "ada", body: `{"attributes":{"mode":2},"queues":["ranked"]}`,
}, {
	name: "stop",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return c.StopPartySearch(ctx, "p/1", "ada")
	},
	line: "DELETE " + parties + "/p%2F1/search", player: "ada",
}, {
	name: "disband",
	call: func(ctx context.Context, c *client.Client) (*client.Party, error) {
		return nil, c.DisbandParty(ctx, "p/1", "ada")
	},
	line: "DELETE " + parties + "/p%2F1", player: "ada", ends: true,
}}

func theParty() *client.Party {
	return &client.Party{ID: "p/1", Code: "K3F9QX2TB", Leader: "ada", Created: 5, Revision: 7, Size: 4,
		Members: []client.PartyMember{{ID: "ada", Joined: 5, Ready: true, Attributes: map[string]float64{"skill": 1},
			Properties: map[string][]byte{"hat": []byte("red")}}, {ID: "bob", Joined: 6}},
		Search: &client.PartySearch{Ticket: "t1", Started: 8}}
}

// Every call is tried as the service answers it, and when its first answer is lost.
func TestPartiesOnTheWire(t *testing.T) {
	for _, test := range partyCalls {
		t.Run(test.name, func(t *testing.T) {
			done, want := reply{status: 200, body: partyJSON}, theParty()
			if test.ends {
				done, want = reply{status: 204}, nil
			}
			s := newService(t, done)
			c, _ := newClient(t, s)
			got, err := test.call(t.Context(), c)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("the call returned\n%+v, %v, want\n%+v", got, err, want)
			}
			if heard := s.requests(); len(heard) != 1 || heard[0].Line != test.line ||
				heard[0].Header.Get("X-On-Behalf-Of") != test.player ||
				!reflect.DeepEqual(asJSON(t, heard[0].Body), asJSON(t, test.body)) {
				t.Errorf("the service heard %+v, want one %s of %s with %s", heard, test.line, test.player, test.body)
			}

			if test.ends {
				done = reply{status: 404, body: `{"code":"partyNotFound"}`} // the first request ended it
			}
			s = newService(t, reply{}, done)
			c, _ = newClient(t, s)
			_, err = test.call(t.Context(), c)
			if heard := len(s.requests()); test.once && (err == nil || heard != 1) || !test.once && (err != nil || heard != 2) {
				t.Errorf("after a lost answer the service heard %d requests, and the call returned %v", heard, err)
			}
		})
	}
}

// A player may have any id, though some look like an encoded one (RFC 8187). What is no UTF-8 is U+FFFD, as in JSON.
func TestRequestsNameAnyPlayer(t *testing.T) {
	for player, want := range map[string]struct{ header, path string }{
		"zoë": {"zoë", "zo%C3%AB"}, "ütf-8'x": {"ütf-8'x", "%C3%BCtf-8%27x"}, "utf-8": {"utf-8", "utf-8"},
		"utf-8'x y":        {"UTF-8''utf-8%27x%20y", "utf-8%27x%20y"},
		"a\xff\xfe":        {"a\ufffd\ufffd", "a%EF%BF%BD%EF%BF%BD"},
		"a\xed\xa0\x80":    {"a\ufffd\ufffd\ufffd", "a%EF%BF%BD%EF%BF%BD%EF%BF%BD"},
		"utf-8'\xff":       {"UTF-8''utf-8%27%EF%BF%BD", "utf-8%27%EF%BF%BD"},
		"\u00ff\U0001F600": {"\u00ff\U0001F600", "%C3%BF%F0%9F%98%80"},
	} {
		s := newService(t, reply{status: 200, body: partyJSON})
		c, _ := newClient(t, s)
		if _, err := c.GetParty(t.Context(), player, player); err != nil {
			t.Fatal(err)
		}
		if got := s.requests()[0].Header.Get("X-On-Behalf-Of"); got != want.header {
			t.Errorf("%q: the header is %q, want %q", player, got, want.header)
		}
		if got := s.requests()[0].Line; !strings.HasSuffix(got, "/parties/"+want.path) {
			t.Errorf("%q: it asked %s", player, got)
		}
	}
}

func TestNextPartyWaitsForAChange(t *testing.T) {
	s := newService(t, reply{status: 304}, reply{status: 304}, reply{status: 200, body: partyJSON}, reply{status: 404})
	c, clock := newClient(t, s)
	got, err := c.NextParty(t.Context(), &client.Party{ID: "p/1", Revision: 6}, "ada")
	if err != nil || !reflect.DeepEqual(got, theParty()) {
		t.Fatalf("%+v, %v", got, err)
	}
	heard := s.requests()
	if len(heard) != 3 || len(clock.naps) != 2 {
		t.Errorf("the service heard %d requests, and the client slept %v", len(heard), clock.naps)
	}
	for _, one := range heard {
		if one.Line != "GET "+parties+"/p%2F1" || one.Header.Get("If-None-Match") != `"6"` ||
			one.Header.Get("Prefer") == "" || one.Header.Get("X-On-Behalf-Of") != "ada" {
			t.Errorf("the service heard %+v", one)
		}
	}
	if _, err = c.NextParty(t.Context(), got, "ada"); client.Status(err) != 404 {
		t.Errorf("who is no member any more gets %v", err)
	}
}

func TestPartiesWithoutAnIDAreRefusedBeforeSending(t *testing.T) {
	s := newService(t, fine)
	c, _ := newClient(t, s)
	ctx := t.Context()
	only := func(_ *client.Party, err error) error { return err }
	followed := func(_ string, err error) error { return err }
	for name, err := range map[string]error{
		"join":                 only(c.JoinParty(ctx, "", client.PartyMembership{Player: "bob"})),
		"join with a space":    only(c.JoinParty(ctx, " ", client.PartyMembership{Player: "bob"})),
		"get":                  only(c.GetParty(ctx, "", "ada")),
		"next":                 only(c.NextParty(ctx, &client.Party{}, "ada")),
		"follow":               followed(c.FollowParty(ctx, "", "ada", nil)),
		"follow as a\nb":       followed(c.FollowParty(ctx, "p", "a\nb", nil)),
		"update":               only(c.UpdatePartyMember(ctx, "", "ada", client.PartyMembership{})),
		"update nobody":        only(c.UpdatePartyMember(ctx, "p", "", client.PartyMembership{})),
		"leave":                c.LeaveParty(ctx, "", "ada"),
		"leave as nobody":      c.LeaveParty(ctx, "p", ""),
		"kick":                 only(c.KickPartyMember(ctx, "", "bob", "ada")),
		"kick nobody":          only(c.KickPartyMember(ctx, "p", "", "ada")),
		"kick the folder":      only(c.KickPartyMember(ctx, "p", "..", "ada")),
		"kick oneself":         only(c.KickPartyMember(ctx, "p", "ada", "ada")),
		"lead":                 only(c.SetPartyLeader(ctx, "", "bob", "ada")),
		"renew the code":       only(c.RenewPartyCode(ctx, "", "ada")),
		"start":                only(c.StartPartySearch(ctx, "", client.TicketRequest{Player: "ada"})),
		"stop":                 only(c.StopPartySearch(ctx, "", "ada")),
		"disband":              c.DisbandParty(ctx, "", "ada"),
		"disband the parent":   c.DisbandParty(ctx, "..", "ada"),
		"a control character":  c.DisbandParty(ctx, "p", "a\nb"),
		"renew as a\r\nheader": only(c.RenewPartyCode(ctx, "p", "a\r\nX: b")),
	} {
		if err == nil || client.Status(err) != 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if heard := s.requests(); len(heard) != 0 {
		t.Errorf("the service heard %+v", heard)
	}
}

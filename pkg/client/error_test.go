package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

func TestError(t *testing.T) {
	problem := map[string]string{"Content-Type": "application/problem+json; charset=utf-8"}
	tests := []struct {
		name  string
		reply reply
		want  client.Error
		text  string
	}{{
		name: "problem",
		reply: reply{status: 404, header: problem, body: `{"type":"https://httpstatuses.io/404","title":"Not Found","status":404,
			"detail":"there is no ticket t1","code":"ticketNotFound","instance":null,"extensions":{"correlationId":"c1"}}`},
		want: client.Error{Status: 404, Title: "Not Found", Detail: "there is no ticket t1", CorrelationID: "c1",
			Code: client.CodeTicketNotFound},
		text: "client: GET /v1/tickets: 404 Not Found: there is no ticket t1 (correlation id c1)",
	}, {
		name: "validation",
		reply: reply{status: 400, header: map[string]string{"X-Correlation-Id": "c2"},
			body: `[{"ResultCode":"badFilterRange","Message":"pool a"},{"resultCode":"x","message":"y"}]`},
		want: client.Error{Status: 400, Title: "Bad Request", CorrelationID: "c2", Validation: []client.Validation{
			{ResultCode: "badFilterRange", Message: "pool a"}, {ResultCode: "x", Message: "y"}}},
		text: "client: GET /v1/tickets: 400 Bad Request: badFilterRange: pool a; x: y (correlation id c2)",
	}, {
		name:  "a proxy's page",
		reply: reply{status: 502, header: map[string]string{"Content-Type": "text/html", "Retry-After": "3"}, body: "<html>"},
		want:  client.Error{Status: 502, Title: "Bad Gateway", RetryAfter: 3 * time.Second},
		text:  "client: GET /v1/tickets: 502 Bad Gateway",
	}, {
		name:  "not JSON after all",
		reply: reply{status: 500, header: problem, body: "{"},
		want:  client.Error{Status: 500, Title: "Internal Server Error"},
		text:  "client: GET /v1/tickets: 500 Internal Server Error",
	}, {
		name:  "a list of something else",
		reply: reply{status: 400, body: `[1]`},
		want:  client.Error{Status: 400, Title: "Bad Request"},
		text:  "client: GET /v1/tickets: 400 Bad Request",
	}, {
		name:  "redirect",
		reply: reply{status: 307, header: map[string]string{"Location": "https://elsewhere/"}},
		want: client.Error{Status: 307, Title: "Temporary Redirect",
			Detail: "the service is said to be at https://elsewhere/"},
		text: "client: GET /v1/tickets: 307 Temporary Redirect: the service is said to be at https://elsewhere/",
	}}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c, _ := newClient(t, newService(t, test.reply))
			_, err := c.GetTicket(t.Context(), "t1")
			got, ok := errors.AsType[*client.Error](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			test.want.Method, test.want.Path = "GET", "/v1/tickets"
			if !reflect.DeepEqual(*got, test.want) {
				t.Errorf("got\n%+v, want\n%+v", *got, test.want)
			}
			if err.Error() != test.text {
				t.Errorf("reads %q, want %q", err, test.text)
			}
		})
	}
}

// TestPlayerText: a code that this version does not know is handled by its status.
func TestPlayerText(t *testing.T) {
	for text, e := range map[string]client.Error{
		"The party is full.":                                 {Status: 409, Code: client.CodePartyFull},
		"This is not possible right now.":                    {Status: 409, Code: "ofALaterVersion"},
		"Please wait a moment and try again.":                {Status: 429},
		"Something went wrong.":                              {Status: 500},
		"This is not there any more.":                        {Status: 404, Code: client.CodeNotFound},
		"You are in a party already. Please leave it first.": {Status: 409, Code: client.CodeAlreadyInParty},
	} {
		if got := client.PlayerText(fmt.Errorf("x: %w", &e)); got != text {
			t.Errorf("%d %s: %q, want %q", e.Status, e.Code, got, text)
		}
	}
	for code, want := range map[client.Code]bool{client.CodeTicketNotFound: true, "teamNotFound": true,
		client.CodeNotFound: false, "": false} {
		if got := client.IsNotFound(fmt.Errorf("x: %w", &client.Error{Status: 404, Code: code})); got != want {
			t.Errorf("%q is not found: %v", code, got)
		}
	}
	if client.IsNotFound(&client.Error{Status: 409, Code: client.CodePartyFull}) || client.CodeOf(io.EOF) != "" {
		t.Error("another failure")
	}
}

// An answer that says success and is not what the API says is an error, and no *Error.
func TestNonsense(t *testing.T) {
	for _, body := range []string{"", "hello", `{"id":5}`, "[]"} {
		c, _ := newClient(t, newService(t, reply{status: 200, body: body}))
		if _, err := c.GetTicket(t.Context(), "t1"); err == nil || client.Status(err) != 0 {
			t.Errorf("%q: %v", body, err)
		}
	}
}

func TestRefusedBeforeSending(t *testing.T) {
	s := newService(t, fine)
	c, _ := newClient(t, s)
	calls := map[string]func(ctx context.Context) error{
		"NaN": func(ctx context.Context) error {
			_, err := c.CreateTicket(ctx, client.TicketRequest{Attributes: map[string]float64{"skill": math.NaN()}})
			return err
		},
		"player": func(ctx context.Context) error {
			_, err := c.CreateTicket(ctx, client.TicketRequest{Player: "a\r\nX: b"})
			return err
		},
		"player of a deletion": func(ctx context.Context) error { return c.DeleteTicket(ctx, "t1", "a\x00") },
		"no config id":         func(ctx context.Context) error { return c.DeleteConfig(ctx, "") },
		"dots":                 func(ctx context.Context) error { return c.DeleteFunction(ctx, "..") },
		"no backfill id":       func(ctx context.Context) error { return c.UpdateBackfill(ctx, client.BackfillTicket{}) },
		"empty archive": func(ctx context.Context) error {
			return c.PutFunction(ctx, "duel", "",
				strings.NewReader(""))
		},
	}
	for name, call := range calls {
		if err := call(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if heard := s.requests(); len(heard) != 0 {
		t.Errorf("the service heard %+v", heard)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []client.Options{
		{URL: "", Project: "demo"},
		{URL: "127.0.0.1:8080", Project: "demo"},
		{URL: "ftp://host", Project: "demo"},
		{URL: "http://", Project: "demo"},
		{URL: "http://me:pass-word@host", Project: "demo"},
		{URL: "http://me:pass-word@host:port", Project: "demo"},
		{URL: "http://host?a=b", Project: "demo"},
		{URL: "http://host", Project: ""},
	} {
		_, err := client.New(o)
		if err == nil {
			t.Errorf("%+v was accepted", o)
		} else if strings.Contains(err.Error(), "pass-word") {
			t.Errorf("the password is in %q", err)
		}
	}
	s := newService(t, fine)
	c, err := client.New(client.Options{URL: s.URL + "/below/", Project: "a b"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.GetTicket(t.Context(), "t1"); err != nil {
		t.Fatal(err)
	}
	if heard := s.requests()[0]; heard.Line != "GET /below/a%20b/matchmaking/api/v1/tickets?id=t1" ||
		heard.Header.Get("Authorization") != "" {
		t.Errorf("the service heard %+v", heard)
	}
}

// Whatever fails, the token is not in what the caller is told.
func TestTokenStaysSecret(t *testing.T) {
	const secret = "secret-token"
	failing := errors.New("the source is dry")
	for name, o := range map[string]client.Options{
		"refused":      {URL: newService(t, reply{status: 401}).URL, Token: client.StaticToken(secret)},
		"lost":         {URL: newService(t, cut).URL, Token: client.StaticToken(secret)},
		"unreachable":  {URL: "http://127.0.0.1:1", Token: client.StaticToken(secret)},
		"not a header": {URL: newService(t, fine).URL, Token: client.StaticToken(secret + "\n" + secret)},
		"empty":        {URL: newService(t, fine).URL, Token: client.StaticToken(" ")},
		"no source": {URL: newService(t, fine).URL, Token: func(context.Context) (string, error) {
			return secret,
				failing
		}},
	} {
		o.Project = "demo"
		o.Retry.Reconnects = -1
		c, err := client.New(o)
		if err != nil {
			t.Fatal(err)
		}
		err = getOne(t.Context(), c)
		if err == nil || strings.Contains(fmt.Sprintf("%+v %#v", err, err), secret) {
			t.Errorf("%s: %v", name, err)
		}
		if name == "no source" && !errors.Is(err, failing) {
			t.Errorf("%v does not wrap its cause", err)
		}
	}
}

// Hosting keys are not in what is printed or logged of a config.
func TestHostingStaysSecret(t *testing.T) {
	config := client.Config{Hosting: &client.Hosting{FleetID: "eu", Access: "hidden-a", Secret: "hidden-b"}}
	text := fmt.Sprintf("%v %+v %#v %s", config.Hosting, *config.Hosting, *config.Hosting, config.Hosting.LogValue())
	if strings.Contains(text, "hidden") || !strings.Contains(text, "eu") {
		t.Errorf("prints %s", text)
	}
}

// A redirect is not followed: it would make a GET of a POST.
func TestRedirectOfCreation(t *testing.T) {
	s := newService(t, reply{status: http.StatusMovedPermanently, header: map[string]string{"Location": "/elsewhere"}},
		fine)
	c, _ := newClient(t, s)
	if err := createOne(t.Context(), c); client.Status(err) != 301 || len(s.requests()) != 1 {
		t.Errorf("got %v after %+v", err, s.requests())
	}
}

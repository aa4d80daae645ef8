package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"matchmaker.dev/pkg/client"
)

// at is the header of a create that was held.
var at = map[string]string{"Location": "tickets?id=t1", "Preference-Applied": "wait=10"}

// ids are the ids that a call was told.
type ids []string

func (i *ids) learn(id string) { *i = append(*i, id) }

func (i *ids) expect(t *testing.T, want string) {
	t.Helper()
	if got := strings.Join(*i, " "); got != want {
		t.Errorf("told of the tickets %q, want %q", got, want)
	}
}

func TestCreateAndWait(t *testing.T) {
	const post, get = "POST /demo/matchmaking/api/v1/tickets", "GET /demo/matchmaking/api/v1/tickets?id=t1"
	held := func(body string) reply { return reply{status: 201, header: at, body: body} }
	created := reply{status: 201, body: `{"id":"t1","status":null}`}
	for name, c := range map[string]struct {
		replies []reply
		asked   []string
	}{
		"one request":                          {[]reply{held(assigned.body)}, []string{post}},
		"a long wait":                          {[]reply{held(waiting.body), assigned}, []string{post, get}},
		"a service that does not hold creates": {[]reply{created, assigned}, []string{post, get}},
		"an answer that is no JSON":            {[]reply{held(`{"id":"t1","sta`), assigned}, []string{post, get}},
		"too many requests":                    {[]reply{{status: 429}, held(""), assigned}, []string{post, post, get}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, c.replies...)
			api, _ := newClient(t, s)
			var told ids
			ticket, err := api.CreateAndWait(t.Context(), client.TicketRequest{Player: "ada"}, told.learn)
			if err != nil || ticket.ID != "t1" || ticket.Assignment.Connection != "10.0.0.1:7000" {
				t.Fatalf("got %+v, %v", ticket, err)
			}
			told.expect(t, "t1")
			var asked []string
			for _, r := range s.requests() {
				asked = append(asked, r.Line)
				if r.Header.Get("Prefer") != "wait=10" {
					t.Errorf("%s: Prefer: %q", r.Line, r.Header.Get("Prefer"))
				}
			}
			if strings.Join(asked, ", ") != strings.Join(c.asked, ", ") {
				t.Errorf("asked %q, want %q", asked, c.asked)
			}
			if got := s.requests()[0].Header.Get("X-On-Behalf-Of"); got != "ada" {
				t.Errorf("X-On-Behalf-Of: %q", got)
			}
		})
	}
}

func TestCreateAndWaitFails(t *testing.T) {
	for name, c := range map[string]struct {
		replies []reply
		status  int
		told    string
	}{
		"refused":              {[]reply{{status: 400}}, 400, ""},
		"no answer":            {[]reply{{}}, 0, ""},
		"an answer without id": {[]reply{{status: 201, body: "{}"}}, 0, ""},
		"the ticket is deleted": {
			[]reply{{status: 201, header: at, body: waiting.body}, {status: 404}}, 404, "t1"},
	} {
		t.Run(name, func(t *testing.T) {
			api, _ := newClient(t, newService(t, c.replies...))
			var told ids
			ticket, err := api.CreateAndWait(t.Context(), client.TicketRequest{}, told.learn)
			if err == nil || client.Status(err) != c.status {
				t.Errorf("got %+v, %v, want an error with the status %d", ticket, err, c.status)
			}
			told.expect(t, c.told)
		})
	}
}

// breaking is a service that sends the header of the answer to a create, and then does as then says.
func breaking(t *testing.T, then func(r *http.Request)) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, assigned.body)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Location", at["Location"])
		w.WriteHeader(http.StatusCreated)
		_ = http.NewResponseController(w).Flush()
		then(r)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestCreateAndWaitGoesOnWhenTheConnectionBreaks(t *testing.T) {
	s := breaking(t, func(*http.Request) { panic(http.ErrAbortHandler) })
	api, err := client.New(client.Options{URL: s.URL, Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	var told ids
	ticket, err := api.CreateAndWait(t.Context(), client.TicketRequest{}, told.learn)
	if err != nil || ticket.Assignment.Connection != "10.0.0.1:7000" {
		t.Errorf("got %+v, %v", ticket, err)
	}
	told.expect(t, "t1")
}

func TestCreateAndWaitEndsWithItsContext(t *testing.T) {
	s := breaking(t, func(r *http.Request) { <-r.Context().Done() })
	api, err := client.New(client.Options{URL: s.URL, Project: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	over := errors.New("patience is over")
	ticket, err := api.CreateAndWait(ctx, client.TicketRequest{}, func(string) { cancel(over) })
	if !errors.Is(err, over) || !strings.Contains(err.Error(), "ticket t1 is still waiting") {
		t.Errorf("got %+v, %v", ticket, err)
	}
}

// silent answers a create with a body that never comes.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodGet {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(assigned.body))}, nil
	}
	body, write := io.Pipe()
	context.AfterFunc(r.Context(), func() { write.CloseWithError(context.Cause(r.Context())) })
	header := http.Header{"Location": {at["Location"]}}
	return &http.Response{StatusCode: http.StatusCreated, Header: header, Body: body}, nil
}

func TestCreateAndWaitDoesNotWaitForABodyForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api, err := client.New(client.Options{URL: "http://mm", Project: "demo", HTTP: &http.Client{Transport: silent{}}})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		ticket, err := api.CreateAndWait(t.Context(), client.TicketRequest{}, nil)
		if err != nil || ticket.Assignment == nil || time.Since(began) != 20*time.Second {
			t.Errorf("got %+v, %v after %v, want a GET after 20s", ticket, err, time.Since(began))
		}
	})
}

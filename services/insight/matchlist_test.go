package insight_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/insight"
	"matchmaker.dev/services/internal/state"
)

// listedPage is a page of matches as answers have it.
type listedPage struct {
	Matches []struct {
		ID, State, Config, Queue, Region, Fleet, Allocated string
		Age                                                float64
	}
	Open, Ended int64
	Next        string
}

// ids are the states and the last digits of what a page has.
func (p listedPage) ids() string {
	var all []string
	for _, m := range p.Matches {
		all = append(all, m.State+m.ID[len(m.ID)-2:])
	}
	return strings.Join(all, " ")
}

// running makes n matches of a ticket each, and gives the first served of them a server.
func (w *world) running(t *testing.T, n, served int) {
	t.Helper()
	revision, _, err := w.store.PutConfig(t.Context(), "demo", &pb.Config{Id: "ranked", Queue: "duels"}, state.AnyRevision)
	must(t, err)
	epoch, err := w.store.AcquireLease(t.Context(), "demo", "a", time.Minute)
	must(t, err)
	for i := range n {
		ticket := w.create(t, &pb.Ticket{Owner: "ada"})
		c := &state.Claim{Tickets: []string{ticket}, Match: &pb.Match{
			Id: fmt.Sprintf("%s%02d", state.NewID(w.store.Now())[:34], i), Config: "ranked", Revision: revision,
			Place: "hosting", Hosting: &pb.Hosting{Fleet: "f"},
			Proposal: &pb.Proposal{Hosting: &pb.HostingOverride{Region: "eu"}, Teams: []*pb.Team{{Tickets: []string{ticket}}}}}}
		_, err = w.store.Claim(t.Context(), "demo", state.ClaimOptions{Epoch: epoch, Claim: time.Minute}, []*state.Claim{c})
		if must(t, err); c.Refusal != "" {
			t.Fatal(c.Refusal)
		}
		if i >= served {
			continue
		}
		_, err = w.store.EndMatches(t.Context(), "demo", []state.Ending{{Match: c.Match, Tickets: c.Tickets,
			Results: []*pb.Assignment{{Connection: "c:1"}}, Outcome: state.Outcome{Connection: "c:1", Readable: time.Minute,
				Server: &pb.GameServer{Config: "ranked", Region: "eu", Hosting: &pb.Hosting{Fleet: "f", Keys: []byte("secret")},
					Allocated: w.store.Now().UnixMilli()}, KeepServer: time.Duration(i+1) * time.Hour}}})
		must(t, err)
	}
}

// Matches that begin come first, then those that have a server; each page goes on behind the one before, also when
// matches end meanwhile.
func TestMatchesThatRunAreListed(t *testing.T) {
	w := start(t, nil)
	w.running(t, 5, 3)
	var all listedPage
	w.read(t, "/matches", http.StatusOK, &all)
	const want = "assigned02 assigned01 assigned00"
	if got := all.ids(); !strings.HasPrefix(got, "claimed0") || !strings.HasSuffix(got, want) || len(all.Matches) != 5 ||
		all.Open != 2 || all.Ended != 3 || all.Next != "" {
		t.Fatalf("%s: %+v", got, all)
	}
	last := all.Matches[4]
	if last.Config != "ranked" || last.Queue != "duels" || last.Region != "eu" || last.Fleet != "f" ||
		last.Allocated == "" || last.Age < 0 || last.Age > 60 || all.Matches[0].Region != "eu" {
		t.Errorf("%+v", last)
	}
	var seen []string
	var page listedPage
	for after := ""; ; after = page.Next {
		page = listedPage{}
		w.read(t, "/matches?limit=2&after="+after, http.StatusOK, &page)
		seen = append(seen, page.ids())
		if page.Next == "" {
			break
		}
	}
	if got := strings.Join(strings.Fields(strings.Join(seen, " ")), " "); got != all.ids() {
		t.Errorf("pages have %q, and all %q", got, all.ids())
	}
	for query, n := range map[string]int{"state=assigned": 3, "state=proposed": 0, "queue=duels": 5, "queue=": 0,
		"config=ranked&region=eu&fleet=f": 5, "region=us": 0, "minAge=60": 0, "maxAge=60": 5} {
		page = listedPage{}
		if w.read(t, "/matches?"+query, http.StatusOK, &page); len(page.Matches) != n {
			t.Errorf("%s selects %d, want %d", query, len(page.Matches), n)
		}
	}
	if text := w.text(t, "/matches"); strings.Contains(text, "secret") || strings.Contains(text, `"ada"`) {
		t.Error("a list shows keys or players: " + text)
	}
}

func TestMatchListNamesWhatIsWrong(t *testing.T) {
	w := start(t, nil)
	for query, want := range map[string]string{"state=lost": "state: one of",
		"limit=0": "limit: a whole number from 1 to 200", "state=asking&state=claimed": "state: given more",
		"limit=201": "limit: ", "after=x": "after: next of", "after=0.1.": "after: ", "after=0.nan.x": "after: ",
		"after=-1.1.x": "after: ", "after=999.1.x": "after: ", "minAge=-1": "minAge: a number"} {
		var problem struct{ Detail string }
		w.read(t, "/matches?"+query, http.StatusBadRequest, &problem)
		if !strings.Contains(problem.Detail, "query parameter "+want) {
			t.Errorf("%s: %s", query, problem.Detail)
		}
	}
	var page listedPage // a set that there is not has nothing
	w.read(t, "/matches?after=200.1e3.x", http.StatusOK, &page)
	if len(page.Matches) > 0 || page.Next != "" {
		t.Errorf("%+v", page)
	}
}

func TestMatchListEndsInTime(t *testing.T) {
	w := start(t, func(o *insight.Options) { o.Within = time.Nanosecond })
	w.read(t, "/matches", http.StatusServiceUnavailable, new(struct{}))
}

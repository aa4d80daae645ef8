package client_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

func TestReportMatches(t *testing.T) {
	s := newService(t, reply{status: 200, body: `{"since":"2030-01-01T00:00:00Z","until":"2030-01-01T01:00:00Z",
		"rows":[{"queue":"q","party":6,"matches":2,"tickets":3,"players":9,"measures":[
			{"kind":"spread","name":"skill","count":2,"mean":1,"p10":0,"p50":1,"p90":2}]}],"leftOut":1}`})
	api, _ := newClient(t, s)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	got, err := api.ReportMatches(t.Context(), client.MatchReportQuery{})
	if err != nil || len(got.Rows) != 1 || got.LeftOut != 1 || !got.Since.Equal(at) {
		t.Fatalf("%+v, %v", got, err)
	}
	row := got.Rows[0]
	if row.Queue != "q" || row.Party != 6 || row.Players != 9 || len(row.Measures) != 1 ||
		row.Measures[0].Name != "skill" || row.Measures[0].P90 != 2 {
		t.Errorf("%+v", row)
	}
}

// TestQueries: a request has each field of its query that is not zero, by the name that the document has for it.
func TestQueries(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	for path, query := range map[string]struct{ none, all any }{
		"v1/matches?after=1-0&config=a+b&fleet=eu%26us&limit=7&maxAge=60&minAge=1.5&queue=q&region=r&state=assigned": {
			none: client.MatchQuery{},
			all: client.MatchQuery{State: "assigned", Config: "a b", Queue: "q", Region: "r", Fleet: "eu&us",
				MinAge: 1500 * time.Millisecond, MaxAge: time.Minute, Limit: 7, After: "1-0"},
		},
		"v2/backfill?after=1-0&id=b-1&limit=7&queue=q": {
			none: client.BackfillQuery{},
			all:  client.BackfillQuery{ID: "b-1", Queue: "q", Limit: 7, After: "1-0"},
		},
		"v1/changes?after=1-0&by=sam&kind=config&limit=7&name=ranked": {
			none: client.ChangeQuery{},
			all:  client.ChangeQuery{Kind: "config", Name: "ranked", By: "sam", Limit: 7, After: "1-0"},
		},
		"v1/matches/report?by=queue%2Cparty&config=a+b&maxRevision=5&minRevision=3" +
			"&since=2030-01-01T00%3A00%3A00Z&until=2030-01-01T01%3A00%3A00Z": {
			none: client.MatchReportQuery{},
			all: client.MatchReportQuery{Since: at, Until: at.Add(time.Hour), By: []string{"queue", "party"},
				Config: "a b", MinRevision: 3, MaxRevision: 5},
		},
		"v1/ratings/a%2Fb/leaderboard?after=50&limit=7&season=winter": {
			none: client.LeaderboardQuery{},
			all:  client.LeaderboardQuery{Season: "winter", Limit: 7, After: 50},
		},
	} {
		s := newService(t, reply{status: 200, body: "{}"}, reply{status: 200, body: "{}"})
		api, _ := newClient(t, s)
		without, _, _ := strings.Cut(path, "?")
		for n, q := range []any{query.all, query.none} {
			fields := reflect.ValueOf(q)
			for i := range fields.NumField() {
				if fields.Field(i).IsZero() != (n == 1) {
					t.Errorf("%T: the test has no value for %s", q, fields.Type().Field(i).Name)
				}
			}
			var err error
			switch q := q.(type) {
			case client.MatchQuery:
				_, err = api.ListMatches(t.Context(), q)
			case client.BackfillQuery:
				_, err = api.ListBackfills(t.Context(), q)
			case client.ChangeQuery:
				_, err = api.ListChanges(t.Context(), q)
			case client.MatchReportQuery:
				_, err = api.ReportMatches(t.Context(), q)
			case client.LeaderboardQuery:
				_, err = api.Leaderboard(t.Context(), "a/b", q)
			}
			if err != nil {
				t.Fatal(err)
			}
			want := "GET /demo/matchmaking/api/" + []string{path, without}[n]
			if line := s.requests()[n].Line; line != want {
				t.Errorf("%T: it asked %s, want %s", q, line, want)
			}
		}
	}
}

package client_test

import (
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
)

func TestReportMatches(t *testing.T) {
	s := newService(t, reply{status: 200, body: `{"since":"2030-01-01T00:00:00Z","until":"2030-01-01T01:00:00Z",
		"rows":[{"queue":"q","party":6,"matches":2,"tickets":3,"players":9,"measures":[
			{"kind":"spread","name":"skill","count":2,"mean":1,"p10":0,"p50":1,"p90":2}]}],"leftOut":1}`},
		reply{status: 200, body: `{"rows":[]}`})
	api, _ := newClient(t, s)
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	got, err := api.ReportMatches(t.Context(), client.MatchReportQuery{Since: at, Until: at.Add(time.Hour),
		By: []string{"queue", "party"}, Config: "a b", MinRevision: 3, MaxRevision: 5})
	if err != nil || len(got.Rows) != 1 || got.LeftOut != 1 || !got.Since.Equal(at) {
		t.Fatalf("%+v, %v", got, err)
	}
	row := got.Rows[0]
	if row.Queue != "q" || row.Party != 6 || row.Players != 9 || len(row.Measures) != 1 ||
		row.Measures[0].Name != "skill" || row.Measures[0].P90 != 2 {
		t.Errorf("%+v", row)
	}
	if _, err := api.ReportMatches(t.Context(), client.MatchReportQuery{}); err != nil {
		t.Fatal(err)
	}
	const path = "GET /demo/matchmaking/api/v1/matches/report"
	for n, want := range []string{path + "?by=queue%2Cparty&config=a+b&maxRevision=5&minRevision=3" +
		"&since=2030-01-01T00%3A00%3A00Z&until=2030-01-01T01%3A00%3A00Z", path} {
		if line := s.requests()[n].Line; line != want {
			t.Errorf("it asked %s, want %s", line, want)
		}
	}
}

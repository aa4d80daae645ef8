package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"
)

func (s *service) exportPlayer(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, `{"player":%q,"tickets":[{"id":"t","attributes":{},"properties":{},"created":1,"assignment":null}],`+
		`"party":{"id":"p","leader":true,"joined":1,"ready":true},"kickedFrom":[],"acceptances":[],`+
		`"games":[{"backfill":"b"}],"pause":null,"rate":{"keptSeconds":9},"matches":[],"ratings":[],"ratingChanges":[],`+
		`"standing":{"games":0,"left":0,"recent":[],"numbers":{}},"leaderboards":[],"complete":false}`, r.PathValue("id"))
}

func (s *service) erasePlayer(w http.ResponseWriter, r *http.Request) {
	s.erased = append(s.erased, r.PathValue("id"))
	fmt.Fprintf(w, `{"player":%q,"tickets":1,"party":true,"ratings":true,"matches":2,"remains":[{"kind":"game","id":"b"},`+
		`{"kind":"pause","seconds":7}]}`, r.PathValue("id"))
}

func (s *service) playerRatings(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"ratings":[{"name":"skill","season":"s1","mean":26.5,"sigma":2,"value":20.5,"tier":"go\u001bld","rank":3,
		"matches":7,"changed":"2030-01-01T00:00:00Z"},{"name":"aim","mean":1,"sigma":2,"value":-5,"provisional":true,
		"matches":1,"changed":"2030-01-01T00:00:00Z"}]}`)
}

func (s *service) ratingHistory(w http.ResponseWriter, _ *http.Request) {
	fmt.Fprint(w, `{"changes":[{"match":"m","time":"2030-01-01T00:00:00Z","rating":"skill",
		"before":{"mean":25,"sigma":3,"value":16},"after":{"mean":26.5,"sigma":2,"value":20.5}}]}`)
}

func (s *service) leaderboard(w http.ResponseWriter, r *http.Request) {
	s.query = r.URL.Query()
	fmt.Fprint(w, `{"rating":"skill","season":"s1","total":812,"next":12,"players":[
		{"rank":11,"player":"ada\u001b","value":31.25,"tier":"gold"},{"rank":12,"player":"2026-11-30T12:00:00Z","value":-3}]}`)
}

// What players choose cannot write to the terminal.
func TestPlayerRatings(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "player", "ratings", "ada").expect(0, `RATING  SEASON  VALUE  TIER   RANK  MEAN  SIGMA  MATCHES  PROVISIONAL
skill   s1      20.5   go�ld  3     26.5      2        7
aim             -5                  1         2        1  yes
`, "")
	shell.on(service, "player", "history", "ada").expect(0,
		`TIME                     MATCH  RATING  VALUE BEFORE  VALUE  MEAN BEFORE  MEAN
2030-01-01 00:00:00 UTC  m      skill             16  20.5            25  26.5
`, "")
	shell.on(service, "ratings", "top", "skill", "--after", "10", "--season", "s1").expect(0, `RANK  PLAYER                VALUE  TIER
  11  ada�                  31.25  gold
  12  2026-11-30T12:00:00Z  -3
`, "mm: it has 812 players\n")
	if q := service.query; q.Get("after") != "10" || q.Get("season") != "s1" || q.Get("limit") != "50" {
		t.Errorf("it asked for %v", q)
	}
	shell.on(service, "ratings", "top", "").expect(2, "", "<rating>: an empty value")
}

func (s *service) standing(w http.ResponseWriter, r *http.Request) {
	body := struct{ Numbers map[string]float64 }{map[string]float64{}}
	if r.Method == http.MethodPut && json.NewDecoder(r.Body).Decode(&body) != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	numbers, _ := json.Marshal(body.Numbers) // of numbers
	fmt.Fprintf(w, `{"games":12,"left":1,"recent":["bob","c y"],"numbers":%s}`, numbers)
}

func TestPlayerStanding(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "player", "standing", "a/b é").expect(0, "games   12\nleft    1\nrecent  bob, c y\n", "")
	shell.on(service, "player", "standing", "ada", "trust=0.25", "x=-3").expect(0,
		"games   12\nleft    1\ntrust   0.25\nx       -3\nrecent  bob, c y\n", "")
	for _, bad := range []string{"trust", "trust=", "trust=a"} {
		shell.on(service, "player", "standing", "ada", bad).expect(2, "", "is no name and number")
	}
}

func TestPlayerExportAndErase(t *testing.T) {
	shell, service := newShell(t), newService(t)
	shell.on(service, "player", "export", "a/b é").expect(0, `{
  "player": "a/b é",`, "")
	shell.on(service, "player", "erase", "a/b é").expect(0, `tickets             1
party               yes
kicked from         0
acceptances         0
matches             0
ratings             0
changes of ratings  0
running games       1
pause               no
rate of creates     yes
`, "mm: there are more tickets than an export has\nmm: nothing was erased: --yes erases the player\n")
	if len(service.erased) > 0 {
		t.Error("without --yes it erased", service.erased)
	}
	shell.on(service, "player", "erase", "a/b é", "--yes").expect(0, `tickets  1
party    left
ratings  removed
matches  2

REMAINS  ID  SECONDS AT MOST
game     b
pause        7
`, "")
	if !slices.Equal(service.erased, []string{"a/b é"}) {
		t.Error("it erased", service.erased)
	}
	for _, command := range []string{"export", "erase"} {
		shell.on(service, "player", command, "").expect(2, "", "<id>: an empty value")
	}
}

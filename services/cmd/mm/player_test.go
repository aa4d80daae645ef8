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
		`"games":[{"backfill":"b"}],"pause":null,"rate":{"keptSeconds":9},"matches":[],"ratings":[],`+
		`"standing":{"games":0,"left":0,"recent":[],"numbers":{}},"complete":false}`, r.PathValue("id"))
}

func (s *service) erasePlayer(w http.ResponseWriter, r *http.Request) {
	s.erased = append(s.erased, r.PathValue("id"))
	fmt.Fprintf(w, `{"player":%q,"tickets":1,"party":true,"ratings":true,"matches":2,"remains":[{"kind":"game","id":"b"},`+
		`{"kind":"pause","seconds":7}]}`, r.PathValue("id"))
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
	shell.on(service, "player", "erase", "a/b é").expect(0, `tickets          1
party            yes
kicked from      0
acceptances      0
matches          0
ratings          0
running games    1
pause            no
rate of creates  yes
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

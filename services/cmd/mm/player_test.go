package main

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
)

func (s *service) exportPlayer(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintf(w, `{"player":%q,"tickets":[{"id":"t","attributes":{},"properties":{},"created":1,"assignment":null}],`+
		`"party":{"id":"p","leader":true,"joined":1,"ready":true},"kickedFrom":[],"acceptances":[],`+
		`"games":[{"backfill":"b"}],"pause":null,"rate":{"keptSeconds":9},"matches":[],"ratings":[],"complete":false}`, r.PathValue("id"))
}

func (s *service) erasePlayer(w http.ResponseWriter, r *http.Request) {
	s.erased = append(s.erased, r.PathValue("id"))
	fmt.Fprintf(w, `{"player":%q,"tickets":1,"party":true,"ratings":true,"matches":2,"remains":[{"kind":"game","id":"b"},`+
		`{"kind":"pause","seconds":7}]}`, r.PathValue("id"))
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

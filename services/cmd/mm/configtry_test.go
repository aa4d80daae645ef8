package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
)

// simulation is what the service answers of a simulation in a state.
const simulation = `{"id":"s-1","config":"ranked","state":"%s","progress":%s,"updated":"2026-11-05T10:26:40Z"%s}`

func (s *service) startSimulation(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.configs["tried"] = string(body)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusAccepted)
	_, _ = fmt.Fprintf(w, simulation, "running", "0", "")
}

func (s *service) getSimulation(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	more := `,"recordedSince":"2026-11-05T09:26:40Z"`
	if strings.Contains(s.configs["tried"], "bad") {
		_, _ = fmt.Fprintf(w, simulation, "failed", "0", more+`,"error":"no ticket came"`)
		return
	}
	side := `{"tickets":4,"players":4,"matched":%d,"left":1,"failed":0,"waiting":0,"matches":1,"runs":9,"waits":[1,2.5,4],
		"measures":[{"kind":"wait","count":2,"mean":2,"p10":1,"p50":2,"p90":4},
			{"kind":"spread","name":"skill","count":1,"mean":%d,"p10":1,"p50":2,"p90":4}]}`
	_, _ = fmt.Fprintf(w, simulation, "done", "1", more+`,"playedUntil":"2026-11-05T10:26:40Z","present":`+
		fmt.Sprintf(side, 3, 80)+`,"alternative":`+fmt.Sprintf(side, 2, 20))
}

func TestConfigTry(t *testing.T) {
	shell, service := newShell(t), newService(t)
	file := write(t, "ranked.json", `{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"window":50}}}`)
	shell.on(service, "config", "try", "ranked", file).expect(0, `                   PRESENT  TRIED
tickets            4        4
matches            1        1
in a match         75 %     50 %
left before        25 %     25 %
got an error       0 %      0 %
wait at the end    0 %      0 %
wait p50           2.5 s    2.5 s
wait p90           4 s      4 s
mean spread skill  80       20
`, "mm: played the tickets that came from ")
	if got := service.configs["tried"]; !strings.Contains(got, `"id":"ranked"`) || !strings.Contains(got, `"window":50`) {
		t.Errorf("sent %s", got)
	}
	shell.on(service, "config", "try", "ranked", file, "-o", "json").expect(0, `"present": 75`, "mm: played the tickets")
	bad := write(t, "bad.json", `{"matchmaking":{"targetFunction":{"name":"bad"}}}`)
	shell.on(service, "config", "try", "ranked", bad).expect(1, "", "mm: it was not played: no ticket came")
}

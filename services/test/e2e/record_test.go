package e2e

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/services/internal/auth"
	"matchmaker.dev/services/internal/issuer"
	"matchmaker.dev/services/internal/recording"
)

// recorded: somebody with the role Support records players who come meanwhile, and plays them again in a simulation.
func recordTickets(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	_, token, err := p.client(issuer.Claims{Kind: auth.Developer, Subject: "helpdesk", Role: "Support"})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "day.mmrec")
	cmd := exec.CommandContext(within(t), p.s.made.mm, "record", "--out", file, "--for", "5s")
	cmd.Env = []string{"MM_URL=" + p.s.front(), "MM_PROJECT=" + p.name, "MM_TOKEN=" + token}
	var output strings.Builder
	cmd.Stderr = &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	next := time.NewTicker(200 * time.Millisecond) // each match has a game server
	defer next.Stop()
	for n, over := 0, false; !over; n++ {
		together(t, p.ticket(t, fmt.Sprint("left-", n), attributes{"skill": 1200}),
			p.ticket(t, fmt.Sprint("right-", n), attributes{"skill": 1207}))
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s", err, &output)
			}
			over = true
		case <-next.C:
		}
	}
	in, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = in.Close() }()
	r, err := recording.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	came, matched := map[uint64]float64{}, 0
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case e.Kind == recording.Arrived && e.Arrival.Known:
			a := e.Arrival.Attributes
			came[e.Tickets[0]] = a.Values[slices.Index(a.Names, "skill")]
		case e.Kind == recording.Assigned && len(e.Tickets) == 2 && came[e.Tickets[0]]+came[e.Tickets[1]] == 2407:
			matched++
		}
	}
	if matched == 0 || len(came) < 2*matched {
		t.Fatalf("%d players were recorded, %d matches: %s", len(came), matched, &output)
	}

	config := `{"matchmaking": {"name": "Ranked", "targetFunction": {"name": "duel", "version": "1"},
		"config": {"attribute": "skill", "window": 100, "widen": 0}}}`
	scenario := fmt.Sprintf("configs: {ranked: ranked.json}\nfunctions: {duel: %q}\nrecording: {file: day.mmrec}\n"+
		"measure: {attribute: skill}\nservice: {waitLimit: 10s}\n", p.s.made.duel)
	for name, text := range map[string]string{"ranked.json": config, "scenario.yaml": scenario} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd = exec.CommandContext(within(t), p.s.made.mm, "simulate", filepath.Join(dir, "scenario.yaml"), "-o", "json")
	output.Reset()
	cmd.Stderr = &output
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &output)
	}
	var simulated struct {
		Scenarios []struct {
			Tickets, Matches int
			Numbers          map[string]float64
		}
	}
	if err := json.Unmarshal(text, &simulated); err != nil {
		t.Fatal(err)
	}
	// Who came at the edges of the recording may have been without the other.
	if one := simulated.Scenarios[0]; one.Tickets != len(came) || one.Matches < matched-1 || one.Numbers["spread"] > 7 {
		t.Errorf("%d players and %d matches were recorded, and simulated %+v", len(came), matched, one)
	}
}

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

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
	"matchmaker.dev/services/lab/recording"
)

// recordTickets: a developer with the role Support records players that come meanwhile, and plays them again in a
// simulation. The owner records them with their properties, and takes one of them out.
func recordTickets(t *testing.T, p *project) {
	p.upload(t, "duel", p.s.made.duel)
	p.ranked(t, "ranked", 0)
	p.match(t, attributes{"skill": 1200}) // from here on matches are made at once
	dir := t.TempDir()
	file, detailed, list := filepath.Join(dir, "day.mmrec"), filepath.Join(dir, "detailed.mmrec"),
		filepath.Join(dir, "detailed.players")
	support := p.commands(t, issuer.Claims{Kind: auth.Developer, Subject: "helpdesk", Role: "Support"})
	owner := p.commands(t, issuer.Claims{Kind: auth.Developer, Subject: "studio", Role: "Owner"})
	withProperties := []string{"record", "--out", detailed, "--players", list, "--properties", "--for", "15s"}
	refused, output := support(withProperties...)
	if err := refused.Run(); err == nil || !strings.Contains(output.String(), "support.properties") {
		t.Fatalf("the role Support records properties: %s", output)
	}
	ended := make(chan error, 2)
	var cmd *exec.Cmd
	cmd, output = support("record", "--out", file, "--for", "15s")
	other, otherOutput := owner(withProperties...)
	for _, one := range []*exec.Cmd{cmd, other} {
		if err := one.Start(); err != nil {
			t.Fatal(err)
		}
		go func() { ended <- one.Wait() }()
	}
	next := time.NewTicker(500 * time.Millisecond) // each match has a game server
	defer next.Stop()
	for n, running := 0, 2; running > 0; n++ {
		left, err := p.request(within(t), fmt.Sprint("left-", n), client.TicketRequest{
			Attributes: attributes{"skill": 1200}, Properties: map[string][]byte{"note": []byte("secret")}})
		if err != nil {
			t.Fatal(err)
		}
		together(t, left, p.ticket(t, fmt.Sprint("right-", n), attributes{"skill": 1207}))
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("%v: %s%s", err, output, otherOutput)
			}
			running--
		case <-next.C:
		}
	}
	erasePlayer(t, owner, detailed, list)
	came, matched := map[uint64]float64{}, 0
	recorded(t, file, func(e *recording.Event) {
		switch {
		case e.Kind == recording.Arrived && e.Arrival.Known:
			a := e.Arrival.Attributes
			came[e.Tickets[0]] = a.Values[slices.Index(a.Names, "skill")]
			if len(e.Arrival.Properties.Names) > 0 {
				t.Errorf("nobody asked for properties: %q", e.Arrival.Properties.Names)
			}
		case e.Kind == recording.Assigned && len(e.Tickets) == 2 && came[e.Tickets[0]]+came[e.Tickets[1]] == 2407:
			matched++
		}
	})
	if matched == 0 || len(came) < 2*matched {
		t.Fatalf("%d players were recorded, %d matches: %s", len(came), matched, output)
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
	cmd, output = owner("simulate", filepath.Join(dir, "scenario.yaml"), "-o", "json")
	text, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, output)
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
	// Players that came at the edges of the recording may have been without the other.
	if one := simulated.Scenarios[0]; one.Tickets != len(came) || one.Matches < matched-1 || one.Numbers["spread"] > 7 {
		t.Errorf("%d players and %d matches were recorded, and simulated %+v", len(came), matched, one)
	}
}

// erasePlayer takes the first player that came with properties out of a recording.
func erasePlayer(t *testing.T, mm func(...string) (*exec.Cmd, *strings.Builder), file, list string) {
	t.Helper()
	var left []uint64
	read := func() {
		t.Helper()
		left = nil
		recorded(t, file, func(e *recording.Event) {
			if e.Kind == recording.Arrived && len(e.Arrival.Properties.Names) == 1 &&
				string(e.Arrival.Properties.Values[0]) == "secret" {
				left = append(left, e.Arrival.Players[0].Number)
			}
		})
	}
	read()
	if len(left) == 0 {
		t.Fatal("no properties were recorded")
	}
	text, err := os.ReadFile(list)
	if err != nil {
		t.Fatal(err)
	}
	var player string
	for line := range strings.Lines(string(text)) {
		if number, id, _ := strings.Cut(strings.TrimSpace(line), "\t"); number == fmt.Sprint(left[0]) {
			player = id
		}
	}
	if !strings.HasPrefix(player, "left-") {
		t.Fatalf("the player %d is %q in the list %s", left[0], player, text)
	}
	before := len(left)
	cmd, output := mm("record", "erase", file, player, "--players", list)
	if err := cmd.Run(); err != nil || !strings.HasSuffix(strings.TrimSpace(output.String()), ": 1") {
		t.Fatalf("%v: %s", err, output)
	}
	if read(); len(left) != before-1 {
		t.Errorf("%d tickets have properties, %d had", len(left), before)
	}
}

// recorded reads a whole recording.
func recorded(t *testing.T, file string, take func(*recording.Event)) {
	t.Helper()
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
	for {
		e, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		take(e)
	}
}

// commands returns what makes commands of mm for a developer, and what gets their messages.
func (p *project) commands(t *testing.T, claims issuer.Claims) func(...string) (*exec.Cmd, *strings.Builder) {
	t.Helper()
	_, token, err := p.client(claims)
	if err != nil {
		t.Fatal(err)
	}
	return func(arguments ...string) (*exec.Cmd, *strings.Builder) {
		cmd, output := p.command(t, token, arguments...), new(strings.Builder)
		cmd.Stderr = output
		return cmd, output
	}
}

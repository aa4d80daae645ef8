package console_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/platform/settings"
	"matchmaker.dev/services/internal/state"
	"matchmaker.dev/services/test/launch"
	"matchmaker.dev/services/test/workload"
)

const project = "demo"

// world is a system with players, as the console shows it.
type world struct {
	*launch.Matchmaker
	bin           string
	studio, lobby *client.Client
	random        *rand.Rand
	// elder is a ticket that waits, game a running game that wants players, and party one that searches.
	elder, game, party string
	divider            report.Divider
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld starts a system, and a day of matches before it.
func newWorld(t *testing.T, bin string) *world {
	t.Helper()
	m, err := launch.Dev(t.Context(), os.Stderr, filepath.Join(bin, "matchmaker"), "--server-lifetime", "15s",
		"--max-servers", "24", "--player-stay", "0s", "--log-level", "error")
	must(t, err)
	t.Cleanup(func() {
		if err := m.Stop(); err != nil {
			t.Error(err)
		}
	})
	w := &world{Matchmaker: m, bin: bin, random: rand.New(rand.NewPCG(1, 2))}
	w.studio, err = m.Client(auth.Developer, project, "olga")
	must(t, err)
	w.lobby, err = m.Client(auth.Service, project, "lobby")
	must(t, err)
	must(t, w.past(t.Context()))
	must(t, w.build(t.Context()))
	return w
}

// store opens the state of the system.
func (w *world) store() (*state.Store, error) {
	url, err := os.ReadFile(filepath.Join(w.Folder(), "redis.url"))
	if err != nil {
		return nil, err
	}
	return state.Open(state.Options{Server: state.Server{URL: strings.TrimSpace(string(url))},
		Limits: settings.Default[state.Limits](), Log: slog.New(slog.DiscardHandler)})
}

// past stores 90 days of matches, as a director does slot by slot.
func (w *world) past(ctx context.Context) error {
	store, err := w.store()
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }()
	epoch, err := store.AcquireLease(ctx, project, "past", time.Minute)
	if err != nil {
		return err
	}
	last := report.SlotOf(time.Now())
	for slot := last - report.Slots + 2; slot < last; slot++ {
		book := report.Spans()[0].NewBook(slot)
		hour := float64(slot) / 12
		crowd := 1.2 + math.Sin((hour-13)/24*2*math.Pi)
		for range int(crowd*60) + w.random.IntN(12) {
			book.Add(w.match(slot, crowd, last))
		}
		err := store.PutReport(ctx, project, epoch, slot, book.Message(),
			state.ReportKeep{Oldest: last - report.Slots, For: report.Slots * report.SlotTime})
		if err != nil {
			return err
		}
	}
	for _, span := range report.Spans()[1:] {
		last := span.SlotOf(time.Now())
		for slot := last - span.Slots + 1; slot < last; slot++ {
			book := span.NewBook(slot)
			week := 1.2 + math.Sin(float64(slot)*span.Slot.Hours()/168*2*math.Pi)
			for range int(week*span.Slot.Hours()*20) + w.random.IntN(12) {
				book.Add(w.match(0, week, 0))
			}
			err := store.PutReport(ctx, project, epoch, slot, book.Message(), state.ReportKeep{Span: span.Name,
				Oldest: last - span.Slots, For: time.Duration(span.Slots) * span.Slot})
			if err != nil {
				return err
			}
		}
	}
	return store.ReleaseLease(ctx, project, "past")
}

// match is a match of the past: the fewer players there are, the longer they wait and the worse it is.
func (w *world) match(slot int64, crowd float64, last int64) *report.Match {
	scarce := 1 / math.Sqrt(crowd)
	m := &report.Match{Key: report.Key{Config: "ranked", Revision: 1, Function: "duel", Upload: 1, Queue: "ranked",
		Region: []string{"eu", "us", "as"}[w.random.IntN(3)]}, Players: 2}
	if slot > last-30 {
		m.Key.Upload, scarce = 2, scarce*0.7
	}
	seats := 2
	if w.random.IntN(3) == 0 {
		m.Key.Config, m.Key.Queue, m.Key.Function, m.Key.Upload, seats, m.Players = "casual", "casual", "rules", 1, 4, 4
	}
	var skills []float32
	for range seats {
		far := w.random.NormFloat64()
		skills = append(skills, float32(1500+350*far))
		m.Waits = append(m.Waits, scarce*w.random.ExpFloat64()*5*float64(seats)*(0.7+far*far/2))
	}
	m.Values = []report.Value{{Kind: report.Spread, Name: "skill", Value: scarce * math.Abs(w.random.NormFloat64()) * 70},
		{Kind: report.Gap, Name: "skill", Value: scarce * math.Abs(w.random.NormFloat64()) * 35}}
	w.divider.Divide(m, "skill", skills)
	return m
}

// build uploads functions and puts configs.
func (w *world) build(ctx context.Context) error {
	for _, name := range []string{"duel", "rules"} {
		if err := w.Upload(ctx, w.studio, name, filepath.Join(w.bin, "functions", name+".zip")); err != nil {
			return err
		}
	}
	file, err := another(filepath.Join(w.bin, "functions", "duel.zip"))
	if err != nil {
		return err
	}
	ranked := workload.Config("duel", "skill", 3000,
		map[string]any{"attribute": "skill", "window": 60, "widen": 10, "maxWindow": 300})
	ranked.Matchmaking.Name, ranked.Queue = "Ranked duels", "ranked"
	ranked.Report = &client.ReportRule{Attributes: []string{"skill"}}
	ranked.Hosting = &client.Hosting{Profile: "demo", FleetID: "local"}
	casual := workload.Config("rules", "skill", 5000, map[string]any{"numbers": []string{"skill"},
		"teams": []any{map[string]any{"name": "team", "copies": 2, "size": 2}},
		"rules": []any{map[string]any{"name": "similar", "spread": "skill",
			"max": map[string]any{"start": 300, "grow": 10, "until": 1500}}}})
	casual.Matchmaking.Name, casual.Queue, casual.Report = "Two against two", "casual", ranked.Report
	casual.Result = &client.ResultRule{Seconds: 600}
	if _, err := w.studio.PutSettings(ctx, client.ProjectSettings{Ratings: map[string]client.RatingRule{
		"elo": {Model: "plackettLuce", Queues: []string{"casual"}}}}, ""); err != nil {
		return err
	}
	for id, config := range map[string]client.Config{"ranked": ranked, "casual": casual} {
		if _, err := w.studio.PutConfig(ctx, id, config, ""); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	ranked.Matchmaking.Config = json.RawMessage(`{"attribute":"skill","window":100,"widen":10,"maxWindow":300}`)
	maria, err := w.Client(auth.Developer, project, "maria")
	if err != nil {
		return err
	}
	if _, err := maria.PutConfig(ctx, "ranked", ranked, ""); err != nil {
		return err
	}
	err = maria.UploadFunction(ctx, "duel", client.FunctionUpload{Note: "narrower windows", Shadow: true}, file)
	if err != nil {
		return err
	}
	w.elder, err = w.lobby.CreateTicket(ctx, client.TicketRequest{Player: "grandmaster",
		Queues: []string{"casual", "ranked"}, Attributes: map[string]float64{"skill": 4800}})
	if err != nil {
		return err
	}
	game, err := w.Client(auth.Server, project, "server-1")
	if err != nil {
		return err
	}
	if w.game, err = game.CreateBackfill(ctx, client.BackfillRequest{Connection: "203.0.113.7:7777", Queue: "casual",
		Attributes: map[string]float64{"open": 2}, Players: []client.GamePlayer{{ID: "ada"}, {ID: "bob"}}}); err != nil {
		return err
	}
	party, err := w.lobby.CreateParty(ctx, 4, client.PartyMembership{Player: "lea"})
	if err != nil {
		return err
	}
	w.party = party.ID
	for i := range 3 {
		if _, err = w.create(ctx, fmt.Sprintf("visitor-%d", i), "halloween", 1500); err != nil {
			return err
		}
	}
	return nil
}

// another is an archive of the same function that is another file.
func another(path string) (io.Reader, error) {
	from, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }()
	var b bytes.Buffer
	to := zip.NewWriter(&b)
	for _, f := range from.File {
		if err := to.Copy(f); err != nil {
			return nil, err
		}
	}
	err = errors.Join(to.SetComment("another"), to.Close())
	return bytes.NewReader(b.Bytes()), err
}

func (w *world) create(ctx context.Context, player, queue string, skill float64, more ...string) (string, error) {
	near, far := "eu", "us"
	if len(player)%3 == 0 {
		near, far = far, near
	}
	properties, err := client.Values{"roles": []string{[]string{"tank", "healer", "damage"}[len(player)%3]},
		"latency": map[string]float64{near: 15 + math.Round(math.Mod(skill, 60)), far: 90 + math.Round(math.Mod(skill, 70))},
	}.Properties()
	if err != nil {
		return "", err
	}
	t := client.TicketRequest{Player: player, Queues: []string{queue}, Properties: properties,
		Attributes: map[string]float64{"skill": math.Round(skill)}}
	for _, one := range more {
		t.Players = append(t.Players, client.Player{ID: one})
	}
	return w.lobby.CreateTicket(ctx, t)
}

// names are of players.
var names = []string{"ada", "bela", "chloe", "dmitri", "elif", "farid", "grace", "hugo", "ines", "jonas", "kira",
	"luis", "mira", "noor", "omar", "pia", "quinn", "rosa", "sven", "tara", "uma", "vito", "wren", "xena", "yuki", "zoe"}

// play lets players arrive until ctx ends.
func (w *world) play(ctx context.Context) error {
	for i := 0; ; i++ {
		if i%100 == 0 { // her party ends when she is silent
			if _, err := w.lobby.MyParty(ctx, "lea"); err != nil && ctx.Err() == nil {
				return err
			}
		}
		name := func(n int) string { return fmt.Sprintf("%s-%d", names[w.random.IntN(len(names))], 100+i*3+n) }
		skill := min(max(1500+350*w.random.NormFloat64(), 100), 2900)
		var err error
		switch w.random.IntN(4) {
		case 0:
			a, b := name(0), name(1)
			_, err = w.create(ctx, a, "casual", skill, a, b)
		case 1:
			_, err = w.create(ctx, name(0), "casual", skill)
		default:
			_, err = w.create(ctx, name(0), "ranked", skill)
		}
		if ctx.Err() != nil {
			return nil //nolint:nilerr // that is the end
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Duration(float64(180*time.Millisecond) * w.random.ExpFloat64())):
		}
	}
}

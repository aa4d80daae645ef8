package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/internal/platform/textfile"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/lab/dryrun"
	"matchmaker.dev/services/lab/simulation"
	"matchmaker.dev/services/lab/simulation/page"
)

// Simulate is the command "mm simulate".
type Simulate struct {
	Scenario string `arg:"" completion-predictor:"file" help:"The scenario, a YAML file."`
	Against  string `placeholder:"FILE" completion-predictor:"file" help:"Another scenario, which is compared with the first."`
	Report   string `placeholder:"FILE" completion-predictor:"file" help:"Write the tables and plots to this HTML file."`
	Seed     uint64 `default:"1" help:"Seed of the players, and of all else that is random."`
	Memory   int    `default:"256" placeholder:"MIB" help:"How much memory a function may use, in MiB, at most 1024."`
}

// Help is what the parser prints.
func (Simulate) Help() string {
	return `Players come, are matched by the functions of the scenario, or leave, in virtual time: a day takes minutes.
All runs on this machine, and no service is needed. The same scenario and seed give the same result.
docs/simulation.md describes the scenario, and what is not simulated. The exit code is 1 if a scenario has no match; it
says why.

    configs: {ranked: ranked.json}
    functions: {duel: duel.zip}
    population:
      duration: 1h
      rate: 20
      attributes: {skill: "normal:1500:400"}
      patience: weibull:147:0.75
    measure: {attribute: skill}

Examples:

    mm simulate narrow.yaml
    mm simulate narrow.yaml --against wide.yaml --report report.html
    mm simulate narrow.yaml --seed 7 -o json | jq '.scenarios[0].numbers'`
}

// Validate is called by the parser.
func (c Simulate) Validate() error {
	if c.Memory < 1 || c.Memory > 1024 {
		return errors.New("--memory must be from 1 to 1024, in MiB")
	}
	return nil
}

// Run simulates for as long as it takes: --timeout is for services.
func (c Simulate) Run(ctx Untimed, t *Terminal) (err error) {
	var scenarios []*simulation.Scenario
	for _, file := range []string{c.Scenario, c.Against} {
		if file == "" {
			continue
		}
		one, err := simulation.Read(file, simulation.Files{Text: textfile.Read, Module: readModule})
		if err != nil {
			return t.AddFile(file, err)
		}
		scenarios = append(scenarios, one)
	}
	if len(scenarios) == 2 && scenarios[0].Name == scenarios[1].Name {
		scenarios[1].Name += " (2)"
	}
	var results []*simulation.Result
	var none error
	// The machine may be busy, and no other run waits.
	limits := sandbox.Limits{Memory: c.Memory << 20, Run: time.Minute, Start: time.Minute, Compile: 5 * time.Minute}
	err = t.inSandbox(limits, func(box *sandbox.Supervisor) (err error) {
		results, none, err = c.simulate(ctx, t, box, scenarios)
		return err
	})
	if err != nil {
		return err
	}
	for _, r := range results {
		for _, note := range page.Notes(r) {
			t.Note("%s", note)
		}
	}
	if len(results) == 2 && results[0].Arrivals != results[1].Arrivals {
		t.Note("the scenarios have different players, which makes the intervals of the differences wider")
	}
	if c.Report != "" {
		if err := c.write(results); err != nil {
			return err
		}
		t.Note("wrote %s", c.Report)
	}
	return errors.Join(t.showSimulation(results), none)
}

// simulate simulates scenarios beside each other. none says of each without a match why it has none.
func (c Simulate) simulate(
	ctx context.Context, t *Terminal, box *sandbox.Supervisor, scenarios []*simulation.Scenario,
) (results []*simulation.Result, none, err error) {
	setMessage, stop := t.Progress("simulating")
	defer stop()
	results = make([]*simulation.Result, len(scenarios))
	done := make([]atomic.Int64, len(scenarios)) // in thousandths
	group, inTime := errgroup.WithContext(ctx)
	for i, scenario := range scenarios {
		group.Go(func() (err error) {
			o := simulation.Options{Box: box, Scenario: scenario, Seed: c.Seed,
				Parts: scenario.Parts(max(1, runtime.GOMAXPROCS(0)/len(scenarios)))}
			var recorded *simulation.Recorded
			if scenario.Recording != "" {
				recorded, err = simulation.OpenRecording(scenario.Recording, scenario.Population.Patience, c.Seed)
				if err != nil {
					return fmt.Errorf("%s: recording.file: %w", scenario.Name, err)
				}
				defer recorded.Close()
				o.Source, scenario.Population.Duration = recorded, recorded.Duration
			}
			o.Progress = func(passed, all time.Duration) {
				done[i].Store(int64(1000 * passed.Seconds() / all.Seconds()))
				least := int64(1000)
				for k := range done {
					least = min(least, done[k].Load())
				}
				setMessage(fmt.Sprintf("simulating: %.1f %%", float64(least)/10))
			}
			results[i], err = simulation.Run(inTime, o)
			if recorded != nil {
				err = errors.Join(err, recorded.Err)
			}
			if err != nil {
				return fmt.Errorf("%s: %w", scenario.Name, err)
			}
			if recorded != nil && recorded.Unknown+recorded.Gaps > 0 {
				t.Note("%s: left out of the recording, since their attributes are not known: %s; events may be missing: %s",
					scenario.Name, format.Plural(recorded.Unknown, "ticket"), format.Plural(recorded.Gaps, "time"))
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, nil, err
	}
	for _, r := range results {
		if len(r.Matches) > 0 {
			continue
		}
		why, err := c.whyNone(ctx, t, box, r)
		if err != nil {
			return nil, nil, err
		}
		none = errors.Join(none, fmt.Errorf("%s: no match: %s", r.Scenario.Name, why))
	}
	return results, none, nil
}

// Of the tickets that come, so many are examined to find out why there is no match, when they have waited for so long.
const (
	whyTickets = 200
	whyWait    = time.Minute
)

// whyNone says why a scenario made no match.
func (c Simulate) whyNone(
	ctx context.Context, t *Terminal, box *sandbox.Supervisor, r *simulation.Result,
) (string, error) {
	switch {
	case r.Tickets == 0:
		return "no player came", nil
	case r.Proposed > 0:
		return fmt.Sprintf("of %s none is a match of measured tickets; there was no server %s, and %s failed; declined: %s",
			format.Plural(r.Proposed, "proposal"), format.Plural(r.Full, "time"), format.Plural(r.Refused, "allocation"),
			format.Plural(r.Declined, "match")), nil
	case r.Scenario.Recording != "":
		return "no function proposed one for " + format.Plural(r.Tickets, "ticket"), nil
	}
	now := t.Now().Truncate(time.Millisecond)
	var tickets []*pb.Ticket
	for crowd := r.Scenario.Population.Generate(c.Seed); len(tickets) < whyTickets; {
		a, more := crowd.Next()
		if !more {
			break
		}
		a.Ticket.Id, a.Ticket.Created = fmt.Sprint("ticket ", len(tickets)+1), now.Add(-whyWait).UnixMilli()
		tickets = append(tickets, a.Ticket)
	}
	var whys []string
	for _, config := range r.Scenario.Configs {
		result, err := dryrun.Run(ctx, dryrun.Options{
			Box: box, Function: r.Scenario.Functions[config.GetFunction()], Config: config, Tickets: tickets, Now: now,
			Seed: c.Seed, Budget: r.Scenario.Service.Budget, Cycles: 1, Log: func(string) {},
		})
		if err != nil {
			return "", fmt.Errorf("%s: configs.%s: %w", r.Scenario.Name, config.GetId(), err)
		}
		of := newReport(config.GetFunction(), tickets, nil, result, now)
		whys = append(whys, fmt.Sprintf("configs.%s: %s", config.GetId(), whyNone(of, config, tickets, result.Explanations)))
	}
	return strings.Join(whys, "; "), nil
}

func (c Simulate) write(results []*simulation.Result) (err error) {
	file, err := os.Create(c.Report)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return page.Write(file, results)
}

// simulated is the JSON of mm simulate.
type simulated struct {
	Scenarios   []simulatedScenario            `json:"scenarios"`
	Differences map[string]simulatedDifference `json:"differences,omitempty"`
}

type simulatedScenario struct {
	Name    string             `json:"name"`
	Seed    uint64             `json:"seed"`
	Tickets int                `json:"tickets"`
	Players int                `json:"players"`
	Matches int                `json:"matches"`
	Runs    int                `json:"runs"`
	Numbers map[string]float64 `json:"numbers"`
}

type simulatedDifference struct {
	Mean float64 `json:"mean"`
	Half float64 `json:"halfOfInterval"`
}

func (t *Terminal) showSimulation(results []*simulation.Result) error {
	var value simulated
	table := Table{Head: []any{""}}
	for _, r := range results {
		one := simulatedScenario{Name: r.Scenario.Name, Seed: r.Seed, Tickets: r.Tickets, Players: r.Players,
			Matches: len(r.Matches), Runs: r.Runs, Numbers: map[string]float64{}}
		whole := r.Whole()
		for _, n := range simulation.Numbers() {
			if v := n.Of(whole); !math.IsNaN(v) {
				one.Numbers[n.Name] = v
			}
		}
		value.Scenarios = append(value.Scenarios, one)
		table.Head = append(table.Head, r.Scenario.Name)
	}
	if len(results) == 2 {
		table.Head = append(table.Head, "difference")
		value.Differences = map[string]simulatedDifference{}
		for _, d := range simulation.Compare(results[0], results[1]) {
			if !math.IsNaN(d.Mean) {
				value.Differences[d.Name] = simulatedDifference{d.Mean, d.Half}
			}
		}
	}
	for _, row := range page.Table(results) {
		cells := make([]any, len(row))
		for i, cell := range row {
			cells[i] = cell
		}
		table.add(cells...)
	}
	return t.Show(value, table)
}

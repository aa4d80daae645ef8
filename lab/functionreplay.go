package lab

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/pkg/matchfn/block"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/internal/match/capture"
	"matchmaker.dev/services/internal/sandbox"
	"matchmaker.dev/services/lab/dryrun"
)

// replay is the result of "mm function test --capture", with the fields of the JSON.
type replay struct {
	Function string        `json:"function"`
	Config   string        `json:"config"`
	Captured time.Time     `json:"captured"`
	Tickets  int           `json:"tickets"`
	Settings string        `json:"settings,omitempty"`
	Compute  time.Duration `json:"compute"`
	// Same: the answer is the same to the byte as the one that was captured.
	Same   bool         `json:"same"`
	Before replayAnswer `json:"before"`
	Now    replayAnswer `json:"now"`

	Explanations []explanation `json:"explanations,omitempty"`
	Log          []string      `json:"log"`
}

// replayAnswer is what a function answered.
type replayAnswer struct {
	Error     string           `json:"error,omitempty"`
	Proposals []replayProposal `json:"proposals"`
}

type replayProposal struct {
	Score float64    `json:"score"`
	Teams [][]string `json:"teams"`
}

// replay repeats a run.
func (c FunctionTest) replay(ctx context.Context, t *Terminal, box *sandbox.Supervisor, module []byte) error {
	file, err := os.ReadFile(c.Capture)
	if err != nil {
		return err
	}
	run, err := capture.Unpack(file)
	if err != nil {
		return fmt.Errorf("%s: %w", c.Capture, err)
	}
	request, err := block.ParseRequest(run.GetRequest())
	if err != nil || request.Tickets != len(run.GetTickets()) || request.Backfills != len(run.GetBackfills()) {
		return fmt.Errorf("%s: it is no capture of a run that this version of mm reads", c.Capture)
	}
	var lines []string
	log := func(line string) { lines = append(lines, line) }
	answer, stats, err := dryrun.Replay(ctx, box, module, run, c.Deadline, log)
	if err != nil {
		t.Log(lines)
		if ctx.Err() != nil {
			return err
		}
		return c.wrap(err)
	}
	r := &replay{
		Function: filepath.Base(c.File), Config: run.GetConfig(), Captured: time.UnixMilli(run.GetTime()).UTC(),
		Tickets: request.Tickets, Settings: string(request.Config), Compute: stats.Compute,
		Same: bytes.Equal(answer, run.GetAnswer()), Log: append([]string{}, lines...),
	}
	r.Before = replayAnswer{Error: run.GetError(), Proposals: []replayProposal{}}
	if len(run.GetAnswer()) > 0 {
		r.Before, _ = readAnswer(run, run.GetAnswer())
	}
	var now *block.Answer
	r.Now, now = readAnswer(run, answer)
	r.explain(run, now)
	if !t.Structured {
		t.Log(lines)
	}
	return t.Show(r, r.summary(), r.table(c.Show), r.explanationTable())
}

// readAnswer reads an answer; the block is nil if it is none.
func readAnswer(run *pb.Capture, answer []byte) (replayAnswer, *block.Answer) {
	r := replayAnswer{Proposals: []replayProposal{}}
	a, err := block.ParseAnswer(answer, len(run.GetTickets()), len(run.GetBackfills()))
	switch {
	case err != nil:
		r.Error = err.Error()
		return r, nil
	case a.Failure != "":
		r.Error = a.Failure
		return r, nil
	}
	for i := range a.Len() {
		p := replayProposal{Score: a.Score(i)}
		for t := range a.Teams(i) {
			team := []string{}
			for _, number := range a.Team(i, t) {
				team = append(team, run.GetTickets()[number])
			}
			p.Teams = append(p.Teams, team)
		}
		r.Proposals = append(r.Proposals, p)
	}
	return r, a
}

// explain adds what the function says of the tickets that it was asked about.
func (r *replay) explain(run *pb.Capture, a *block.Answer) {
	if a == nil {
		return
	}
	for _, id := range run.GetAsked() {
		e := explanation{Ticket: id, InPool: true, Reasons: []client.Reason{}}
		for _, x := range a.Explanations() {
			if run.GetTickets()[x.Ticket] == id {
				e.Reasons = append(e.Reasons, newReason(&pb.Explanation{Reason: x.Reason, Candidates: int64(x.Candidates)}))
			}
		}
		for _, p := range r.Now.Proposals {
			for _, team := range p.Teams {
				for _, ticket := range team {
					e.Matched = e.Matched || ticket == id
				}
			}
		}
		r.Explanations = append(r.Explanations, e)
	}
}

func (r *replay) summary() Table {
	var g Table
	g.add("function", r.Function)
	g.add("config", r.Config)
	g.add("captured", r.Captured.Format("2006-01-02 15:04:05 MST"))
	g.add("tickets", r.Tickets)
	g.add("settings", r.Settings)
	g.add("compute", r.Compute.String())
	answer := "the same to the byte as when it was captured"
	if !r.Same {
		answer = fmt.Sprintf("another one than when it was captured: that had %d proposals", len(r.Before.Proposals))
	}
	g.add("answer", answer)
	g.add("proposals", len(r.Now.Proposals))
	g.add("error", r.Now.Error)
	g.add("error before", r.Before.Error)
	return g
}

// table is the first proposals.
func (r *replay) table(most int) Table {
	g := Table{Head: []any{"proposal", "score", "teams"}}
	for i, p := range r.Now.Proposals[:min(most, len(r.Now.Proposals))] {
		var teams []string
		for _, team := range p.Teams {
			teams = append(teams, firstIDs(team))
		}
		g.add(i+1, format.Number(p.Score), strings.Join(teams, " | "))
	}
	return g
}

// explanationTable renders explanations as report.explanationTable does.
func (r *replay) explanationTable() Table {
	return (&report{Explanations: r.Explanations}).explanationTable()
}

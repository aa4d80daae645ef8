package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
)

type ticketWhy struct {
	ID     string `arg:"" optional:"" name:"id" completion-predictor:"ticket" help:"The ticket's id."`
	Player string `completion-predictor:"player" help:"Instead of the id: the player whose ticket waits; of several, the one that has waited for longest."`
}

// Validate is called by the parser.
func (c ticketWhy) Validate() error {
	if (c.ID == "") == (c.Player == "") {
		return usageError("give the ticket's id, or --player")
	}
	return nil
}

// find returns the id of the ticket that waits of a player.
func (c ticketWhy) find(ctx context.Context, s *session, api developerAPI) (string, error) {
	page, err := api.GetWaitingTickets(ctx, client.WaitingQuery{Player: c.Player})
	if err != nil {
		return "", err
	}
	if len(page.Tickets) == 0 {
		s.noteIfUnknown(ctx, api.Client)
		return "", fmt.Errorf("player %s has no ticket that waits", c.Player)
	}
	if n := len(page.Tickets); n > 1 {
		s.note("player %s has %d tickets that wait: mm ticket list --waiting --player %s", c.Player, n, c.Player)
	}
	return page.Tickets[0].ID, nil
}

// Run prints the explanation.
func (c ticketWhy) Run(ctx context.Context, s *session, api developerAPI) error {
	id := c.ID
	if id == "" {
		var err error
		if id, err = c.find(ctx, s, api); err != nil {
			return err
		}
	}
	e, err := api.ExplainTicket(ctx, id)
	if err != nil {
		return err
	}
	if len(e.UnservedQueues) > 0 {
		s.noteUnserved(e.UnservedQueues)
	}
	var about grid
	about.add("ticket", e.ID)
	about.add("state", e.State)
	if h := e.History; h != nil && h.Ended != nil {
		about.add("ended", fmt.Sprintf("%s, at %s after %s s", h.Ended.Reason, formatTime(h.Ended.Time.Truncate(time.Second)),
			format.Number(e.Waited)))
	} else {
		about.add("created", fmt.Sprintf("%s s ago", format.Number(e.Waited)))
	}
	if e.Players > 0 {
		about.add("players", e.Players)
	}
	if len(e.Queues) > 0 {
		about.add("queues", oneLine(strings.Join(e.Queues, " ")))
	}
	matches := c.matches(s, e.History)
	why := grid{head: []any{"config", "function", "why it waits", "candidates without that"}}
	for _, config := range e.Configs {
		for _, r := range reasonsOf(&config, e.State) {
			why.add(append([]any{config.Config, config.Function}, format.Reason(r)...)...)
		}
	}
	if len(e.Configs) == 0 && e.State != "ended" {
		s.note("the project has no config: nothing matches its tickets")
	}
	return s.show(e, about, why.withoutEmptyColumns(), matches.withoutEmptyColumns())
}

// matches is the matches in which the ticket was.
func (ticketWhy) matches(s *session, h *client.TicketHistory) *grid {
	table := &grid{head: []any{"time", "its match", "is", "reason", "detail", "score", "config"}}
	switch {
	case h == nil:
		return table
	case h.Error != "":
		s.note("what became of its matches before %s is not known: %s", formatTime(h.Since.Truncate(time.Second)), h.Error)
	case !h.Complete:
		s.note("these are its latest matches; mm event log --ticket shows all")
	}
	for _, m := range h.Matches {
		table.add(formatTime(m.Created.Truncate(time.Second)), m.Match, m.State, m.Reason, oneLine(m.Detail),
			numberOf(m.Score, ""), m.Config)
	}
	return table
}

// reasonsOf is why a config has not matched a ticket.
func reasonsOf(c *client.ConfigExplanation, state string) (reasons []client.Reason) {
	say := func(format string, args ...any) {
		reasons = append(reasons, client.Reason{Reason: fmt.Sprintf(format, args...)})
	}
	switch {
	case !c.Serves && c.Queue == "":
		say("it serves tickets without queues")
	case !c.Serves:
		say("it serves the queue %s", c.Queue)
	case !c.InPool:
		for _, p := range c.Pools {
			for _, f := range p.Filters {
				if !f.Holds {
					say("pool %s: %s", p.Pool, filterText(f))
				}
			}
		}
	case c.Run == nil && state != "waiting":
		say("it gets the ticket when that waits")
	case c.Run == nil:
		say("it gets the ticket; its function was not asked, since that is done for some configs only")
	case c.Run.Error != "":
		say("the run failed: %s", c.Run.Error)
	default:
		reasons = slices.Clone(c.Run.Reasons)
		if c.Run.Place > 0 {
			say("by age it is number %d of the %d tickets that the function gets", c.Run.Place, c.Run.Tickets)
		}
		if seen := c.Run.Seen; seen != nil {
			say("at least %s got it, the first by %s", format.Plural(seen.Runs, "run"),
				formatTime(seen.Since.Truncate(time.Second)))
		}
		if c.Run.Proposed {
			say("one of %s has it: %s", format.Plural(c.Run.Proposals, "proposal"), outcomeOf(c.Run.Best))
		} else if len(c.Run.Reasons) == 0 {
			say("none of %s for %s has it; the function does not say why", format.Plural(c.Run.Proposals, "proposal"),
				format.Plural(c.Run.Tickets, "ticket"))
		}
	}
	return reasons
}

// outcomeOf is what becomes of the best proposal with a ticket.
func outcomeOf(best *client.BestProposal) string {
	switch {
	case best == nil:
		return "the next cycle may match it"
	case best.LosesTo == nil:
		return fmt.Sprintf("with the score %s it wins, so the next cycle may match it", format.Number(best.Score))
	case best.LosesTo.By == 0:
		return fmt.Sprintf("with the score %s it loses to one of %s with the same score and an older ticket",
			format.Number(best.Score), best.LosesTo.Config)
	}
	return fmt.Sprintf("with the score %s it loses to one of %s, which has %s", format.Number(best.Score),
		best.LosesTo.Config, format.Number(best.LosesTo.Score))
}

// filterText is why a filter does not hold.
func filterText(f client.FilterExplanation) string {
	name := cmp.Or(f.Attribute, "the number of "+f.Count)
	if f.Value == nil {
		return "it has no " + name
	}
	text := fmt.Sprintf("%s is %s", name, number(*f.Value))
	switch {
	case f.By == nil:
	case f.Min != nil && *f.Value < *f.Min:
		text += fmt.Sprintf(", %s below the least, %s", number(*f.By), number(*f.Min))
	case f.Max != nil && *f.By == 0:
		text += fmt.Sprintf(", and must be below %s", number(*f.Max))
	case f.Max != nil:
		text += fmt.Sprintf(", %s above the greatest, %s", number(*f.By), number(*f.Max))
	}
	return text
}

type ticketCapture struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket's id."`
	Config string `required:"" completion-predictor:"config" help:"The config whose function is run; it must get the ticket."`
	To     string `default:"run.capture" placeholder:"FILE" completion-predictor:"file" help:"The file to write."`
}

// Run writes the file.
func (c ticketCapture) Run(ctx context.Context, s *session, api developerAPI) error {
	file, err := api.CaptureRun(ctx, c.ID, c.Config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(c.To, file, 0o600); err != nil {
		return fmt.Errorf("the capture is not written: %w", err)
	}
	return s.showID("capture", "file", c.To)
}

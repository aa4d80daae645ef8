package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/cmd/mm/format"
	"matchmaker.dev/services/internal/edge/issuer"
)

type ticketCommands struct {
	Create  ticketCreate  `cmd:"" help:"Ask for a match."`
	Get     ticketGet     `cmd:"" help:"Print a ticket."`
	Watch   ticketWatch   `cmd:"" help:"Print what happens to a ticket."`
	Resume  ticketResume  `cmd:"" help:"Wait for the match of the ticket that a player has."`
	List    ticketList    `cmd:"" help:"List the tickets that wait, or a player's."`
	Why     ticketWhy     `cmd:"" help:"Explain why a ticket waits."`
	Capture ticketCapture `cmd:"" help:"Write a run of a function that gets the ticket to a file."`
	Accept  ticketAnswer  `cmd:"" help:"Accept the match that asks the players of a ticket."`
	Decline ticketAnswer  `cmd:"" help:"Decline the match that asks the players of a ticket."`
	Delete  ticketDelete  `cmd:"" help:"Stop asking for a match."`
}

const errNoPlayer = usageError("--player is required, unless --token is a player's")

type ticketCreate struct {
	Player string `completion-predictor:"player" help:"The player that owns the ticket. Required, unless --token is a player's or there is a --for."`
	fieldFlags
	playerFlags
	claimFlags
	measureFlag
	Queue []string `sep:"none" placeholder:"NAME" completion-predictor:"queue" help:"Queue to wait in. May be repeated; default: outside of queues."`
	Wait  bool     `help:"Wait for the match and print the game server's address. Ctrl-C while waiting deletes the ticket, so that no match gets an absent player."`
}

// Run creates the ticket.
func (c ticketCreate) Run(ctx context.Context, s *session) error {
	players, err := c.players()
	if err != nil {
		return err
	}
	claims := asPlayer(c.Player)
	if len(players) > 0 {
		claims = asGameService() // a player's token names no other player
		if c.Measure {
			return usageError("--measure is for a player's own ticket, not with --for: this machine is not where others are")
		}
	}
	if c.Player == "" && s.Bearer == "" {
		if len(players) == 0 {
			return errNoPlayer
		}
		c.Player = players[0].ID
	}
	if len(c.Claim) > 0 && s.Bearer != "" {
		return usageError("--claim is for a token that mm makes, not for --token")
	}
	attributes, properties, err := c.read()
	if err != nil {
		return err
	}
	if claims.Further, err = c.further(); err != nil {
		return err
	}
	api, err := s.connect(claims, reconnecting)
	if err != nil {
		return err
	}
	request := client.TicketRequest{Player: c.Player, Attributes: attributes, Properties: properties, Players: players,
		Queues: c.Queue}
	if request.Receipts, err = c.receipts(ctx, api); err != nil {
		return err
	}
	// Ctrl-C does not cancel the request: without its answer, the ticket could not be deleted.
	createCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.Timeout)
	defer cancel()
	if c.Wait {
		return s.createAndWait(ctx, createCtx, api, request)
	}
	id, err := api.CreateTicket(createCtx, request)
	if err != nil {
		return s.adviseResume(err)
	}
	if len(c.Queue) > 0 {
		if t, err := api.GetTicket(createCtx, id); err == nil && len(t.UnservedQueues) > 0 {
			s.noteUnserved(t.UnservedQueues)
		}
	}
	return s.showID("ticket", "id", id)
}

type ticketGet struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket."`
	Player string `completion-predictor:"player" help:"Read as this player; default: as a game service."`
	Wait   bool   `help:"Wait until the ticket has its result."`
}

// Run prints the ticket.
func (c ticketGet) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asReader(c.Player), func(r *client.Retry) {
		if c.Wait {
			reconnecting(r)
		}
	})
	if err != nil {
		return err
	}
	if !c.Wait {
		t, err := api.GetTicketWithEstimate(ctx, c.ID)
		if err != nil {
			return err
		}
		return s.showTicket(t)
	}
	return s.wait(ctx, api, c.ID)
}

func asReader(player string) issuer.Claims {
	if player == "" {
		return asGameService()
	}
	return asPlayer(player)
}

type ticketDelete struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket."`
	Player string `completion-predictor:"player" help:"The ticket's owner, or one of its players. Required, unless --token is a player's."`
}

// Run deletes the ticket.
func (c ticketDelete) Run(ctx context.Context, s *session) error {
	if c.Player == "" && s.Bearer == "" {
		return errNoPlayer
	}
	api, err := s.connect(asPlayer(c.Player))
	if err != nil {
		return err
	}
	return s.showDeletion("ticket", c.ID, api.DeleteTicket(ctx, c.ID, c.Player))
}

func (s *session) showTicket(t *client.Ticket) error {
	var g grid
	g.addMembers(t, "ticket=id, created:ms")
	g.addFields(t.Attributes, t.Properties)
	for _, p := range t.Players {
		g.add("player", playerLine(p))
	}
	for _, queue := range t.Queues {
		state := ""
		if slices.Contains(t.UnservedQueues, queue) {
			state = " (no config serves it)"
		}
		g.add("queue", queue+state)
	}
	if a := t.Acceptance; a != nil {
		g.add("state", "to be accepted")
		g.add("match", a.Match)
		g.add("accepted", fmt.Sprintf("%d of %s", a.Accepted, format.Plural(a.Players, "player")))
		g.add("time left", (time.Duration(a.Remaining) * time.Millisecond).String())
		for _, player := range a.Unanswered {
			g.add("unanswered", player)
		}
		return s.show(t, g)
	}
	if t.Assignment == nil {
		g.add("state", "waiting")
		if t.Estimate != nil {
			g.add("expected", expected(t.Estimate))
		}
		return s.show(t, g)
	}
	if t.Assignment.Connection == "" && t.Assignment.Error == "" {
		g.add("state", "matched, without a server: neither config nor function names one")
	}
	g.addMembers(t.Assignment, "connection, error, properties, match properties=matchproperties")
	for _, player := range slices.Sorted(maps.Keys(t.Assignment.Seats)) {
		g.add("seat pass", player+" "+t.Assignment.Seats[player])
	}
	return s.show(t, g)
}

// expected says for how much longer a ticket is expected to wait.
func expected(e *client.Estimate) string {
	low := (time.Duration(e.Low) * time.Millisecond).Round(time.Second)
	high := (time.Duration(e.High) * time.Millisecond).Round(time.Second)
	return fmt.Sprintf("a match in %v to %v", low, max(high, time.Second))
}

// ticketAnswer is accept and decline.
type ticketAnswer struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket."`
	Player string `completion-predictor:"player" help:"The player that answers; default: all players of the ticket, or the player of --token."`
	Match  string `completion-predictor:"match" help:"The match; default: the one that asks now."`
}

// Run answers the match.
func (c ticketAnswer) Run(ctx context.Context, line *kong.Context, s *session) error {
	api, err := s.connect(asReader(c.Player))
	if err != nil {
		return err
	}
	if c.Match == "" {
		t, err := api.GetTicket(ctx, c.ID)
		if err != nil {
			return err
		}
		if t.Acceptance == nil {
			return errors.New("ticket " + c.ID + ": no match asks its players now")
		}
		c.Match = t.Acceptance.Match
	}
	said, what := client.MatchAnswer{Ticket: c.ID, Match: c.Match, Player: c.Player}, "declined"
	if line.Selected().Name == "accept" {
		said.Accept, what = true, "accepted"
	}
	if err := api.AnswerMatch(ctx, said); err != nil {
		return err
	}
	return s.showID(what, what, c.Match)
}

type ticketResume struct{ partyPlayer }

// Run waits for the match of the ticket that the player has.
func (c ticketResume) Run(ctx context.Context, s *session, api playerAPI) error {
	player, err := c.self(s)
	if err != nil {
		return err
	}
	t, err := api.Latest(ctx, player)
	if errors.Is(err, client.ErrNoTicket) {
		return messageError{cause: err, message: "player " + player + " has no ticket that waits or has a match, " +
			`or the project lists none: ask for one with "mm ticket create"`}
	}
	if err != nil {
		return err
	}
	s.note("ticket %s is the player's", t.ID)
	return s.wait(ctx, api.Client, t.ID)
}

// adviseResume adds to a refusal, because the player has a ticket, how to go on with that.
func (s *session) adviseResume(err error) error {
	return s.advise(err, client.CodePlayerHasTicket, `"mm ticket resume" waits for its match`)
}

type ticketWatch struct {
	ID     string `arg:"" name:"id" completion-predictor:"ticket" help:"The ticket."`
	Player string `completion-predictor:"player" help:"Read as this player; default: as a game service."`
}

// Run prints the events of the ticket.
func (c ticketWatch) Run(ctx context.Context, s *session) error {
	api, err := s.connect(asReader(c.Player), reconnecting)
	if err != nil {
		return err
	}
	var printing error
	assigned, err := api.Follow(ctx, c.ID, func(e client.TicketEvent) {
		if printing == nil {
			printing = s.showEvent(e)
		}
	})
	switch {
	case printing != nil:
		return printing
	case err != nil:
		return err
	case assigned.Error != "":
		return fmt.Errorf("ticket %s got no match: %s", c.ID, assigned.Error)
	}
	return nil
}

// showEvent prints an event of a ticket.
func (s *session) showEvent(e client.TicketEvent) error {
	if s.structured() {
		return s.printNext(struct {
			Event string `json:"event"`
			client.TicketEvent
		}{e.Kind, e})
	}
	words := []string{e.Kind}
	for _, queue := range e.Queues {
		words = append(words, "queue "+queue)
	}
	for _, queue := range e.UnservedQueues {
		words = append(words, "no config serves "+queue)
	}
	if e.Estimate != nil {
		words = append(words, expected(e.Estimate))
	}
	if a := e.Acceptance; a != nil {
		words = append(words, fmt.Sprintf("match %s  %d of %s accepted", a.Match, a.Accepted,
			format.Plural(a.Players, "player")))
	}
	if e.Reason != "" {
		words = append(words, e.Reason)
	}
	if a := e.Assignment; a != nil {
		words = append(words, a.Connection, a.Error)
	}
	_, err := fmt.Fprintln(s.out, oneLine(strings.TrimSpace(strings.Join(words, "  "))))
	return err
}

package main

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

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

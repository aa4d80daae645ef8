package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/lestrrat-go/jwx/v3/jwt"

	"matchmaker.dev/pkg/client"
)

type partyCommands struct {
	Create  partyCreate    `cmd:"" help:"Make a party and print its code."`
	Join    partyJoin      `cmd:"" help:"Join a party by its code."`
	Get     partyAct       `cmd:"" help:"Print the player's party."`
	Watch   partyWatch     `cmd:"" help:"Print the player's party whenever it changes."`
	Update  partyUpdate    `cmd:"" help:"Say again whether the player is ready, and its attributes."`
	Start   partyStart     `cmd:"" help:"Start the search: one ticket with all members."`
	Stop    partyAct       `cmd:"" help:"Stop the search."`
	Leave   partyLeave     `cmd:"" help:"Leave the party."`
	Kick    partyMemberAct `cmd:"" help:"Remove a member, which cannot join again."`
	Lead    partyMemberAct `cmd:"" help:"Make another member the leader."`
	Code    partyAct       `cmd:"" help:"Give the party another code."`
	Disband partyDisband   `cmd:"" help:"End the party."`
}

// partyPlayer is the player that acts.
type partyPlayer struct {
	Player string `completion-predictor:"player" help:"The player's identifier. Required, unless --token is a player's."`
}

// playerAPI is a client with the acting player's token.
type playerAPI struct{ *client.Client }

// ProvideAPI is called by the parser.
func (p partyPlayer) ProvideAPI(s *session) (playerAPI, error) {
	if p.Player == "" && s.Bearer == "" {
		return playerAPI{}, errNoPlayer
	}
	api, err := s.connect(asPlayer(p.Player), reconnecting)
	return playerAPI{api}, err
}

// self is the player that acts: the one that is named, or the one whose token it is.
func (p partyPlayer) self(s *session) (string, error) {
	if p.Player != "" {
		return p.Player, nil
	}
	token, err := jwt.ParseInsecure([]byte(strings.TrimSpace(s.Bearer)))
	if err != nil {
		return "", errNoPlayer
	}
	if player, ok := token.Subject(); ok {
		return player, nil
	}
	return "", errNoPlayer
}

// mine is the party that the player is in.
func (p partyPlayer) mine(ctx context.Context, s *session, api playerAPI) (*client.Party, error) {
	party, err := api.MyParty(ctx, p.Player)
	return party, s.advise(err, client.CodePartyNotFound,
		`make one with "mm party create", or join one with "mm party join CODE"`)
}

// leaving calls do with the party that the player is in. Where there is none, it says so, and succeeds.
func (p partyPlayer) leaving(
	ctx context.Context, s *session, api playerAPI, do func(party *client.Party) error,
) error {
	party, err := api.MyParty(ctx, p.Player)
	switch {
	case err == nil:
		return do(party)
	case !client.IsNotFound(err):
		return err
	}
	player, err := p.self(s)
	if err != nil {
		return err
	}
	return s.showNothingDeleted("party of player", player)
}

// advise adds what to do to a refusal with a code.
func (s *session) advise(err error, code client.Code, advice string) error {
	if refused, ok := errors.AsType[*client.Error](err); ok && refused.Code == code {
		return messageError{s.responseText(refused) + ": " + advice, err}
	}
	return err
}

// inParty calls do with the party that the player is in, and prints the party that do returns.
func (p partyPlayer) inParty(
	ctx context.Context, s *session, api playerAPI, do func(party *client.Party) (*client.Party, error),
) error {
	party, err := p.mine(ctx, s, api)
	if err != nil {
		return err
	}
	return s.showParty(do(party))
}

type partyMember struct {
	partyPlayer
	fieldFlags
	measureFlag
	NotReady bool `help:"The player is not ready: the search cannot be started yet."`
}

// ProvideMembership is called by the parser. It measures where the flags want it.
func (m partyMember) ProvideMembership(ctx context.Context, api playerAPI) (client.PartyMembership, error) {
	of := client.PartyMembership{Player: m.Player, NotReady: m.NotReady}
	var err error
	if of.Attributes, of.Properties, err = m.read(); err == nil {
		of.Receipts, err = m.receipts(ctx, api.Client)
	}
	return of, err
}

type partyCreate struct {
	partyMember
	Size int `help:"How many members it may have; 0 means the most that the service allows."`
}

// Run makes the party.
func (c partyCreate) Run(ctx context.Context, s *session, m client.PartyMembership, api playerAPI) error {
	return s.showParty(api.CreateParty(ctx, c.Size, m))
}

type partyJoin struct {
	Code string `arg:"" help:"The code, as the leader reads it out."`
	partyMember
}

// Run joins the party.
func (c partyJoin) Run(ctx context.Context, s *session, m client.PartyMembership, api playerAPI) error {
	p, err := api.JoinParty(ctx, c.Code, m)
	return s.showParty(p, s.advise(err, client.CodePartyCodeUnknown,
		"ask the leader for the code that the party has now"))
}

// partyAct is get, stop and code.
type partyAct struct{ partyPlayer }

// Run does it, and prints the party.
func (c partyAct) Run(ctx context.Context, line *kong.Context, s *session, api playerAPI) error {
	return c.inParty(ctx, s, api, func(p *client.Party) (*client.Party, error) {
		switch line.Selected().Name {
		case "stop":
			return api.StopPartySearch(ctx, p.ID, c.Player)
		case "code":
			return api.RenewPartyCode(ctx, p.ID, c.Player)
		}
		return p, nil
	})
}

type partyWatch struct{ partyPlayer }

// Run prints the party, and what it becomes.
func (c partyWatch) Run(ctx context.Context, s *session, api playerAPI) error {
	p, err := c.mine(ctx, s, api)
	if err != nil {
		return err
	}
	var printing error
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	reason, err := api.FollowParty(ctx, p.ID, c.Player, func(p *client.Party) {
		if printing == nil {
			printing = s.showPartyLine(p)
		}
		if printing != nil {
			stop()
		}
	})
	switch {
	case printing != nil:
		return printing
	case client.IsNotFound(err): // it is gone since it was read
		reason = client.PartyGone
	case err != nil:
		return err
	}
	if reason == client.PartyGone {
		s.note("the player is in no party any more")
	} else {
		s.note("the player is in no party any more: %s", reason)
	}
	return nil
}

// showPartyLine prints a party: an object on a line with --output json.
func (s *session) showPartyLine(p *client.Party) error {
	if s.structured() {
		return s.printNext(p)
	}
	return s.showParty(p, nil)
}

type partyUpdate struct{ partyMember }

// Run replaces what the player said.
func (c partyUpdate) Run(ctx context.Context, s *session, m client.PartyMembership, api playerAPI) error {
	return c.inParty(ctx, s, api, func(p *client.Party) (*client.Party, error) {
		player, err := c.self(s)
		if err != nil {
			return nil, err
		}
		return api.UpdatePartyMember(ctx, p.ID, player, m)
	})
}

type partyStart struct {
	partyPlayer
	fieldFlags
	Queue []string `sep:"none" placeholder:"NAME" completion-predictor:"queue" help:"Queue to search in. May be repeated; default: outside of queues."`
}

// Run starts the search.
func (c partyStart) Run(ctx context.Context, s *session, api playerAPI) error {
	attributes, properties, err := c.read()
	if err != nil {
		return err
	}
	return c.inParty(ctx, s, api, func(p *client.Party) (*client.Party, error) {
		return api.StartPartySearch(ctx, p.ID,
			client.TicketRequest{Player: c.Player, Attributes: attributes, Properties: properties, Queues: c.Queue})
	})
}

type partyLeave struct{ partyPlayer }

// Run leaves the party.
func (c partyLeave) Run(ctx context.Context, s *session, api playerAPI) error {
	return c.leaving(ctx, s, api, func(p *client.Party) error {
		player, err := c.self(s)
		if err != nil {
			return err
		}
		if err := api.LeaveParty(ctx, p.ID, player); err != nil {
			return err
		}
		return s.showID("left", "left", p.ID)
	})
}

// partyMemberAct is kick and lead.
type partyMemberAct struct {
	Member string `arg:"" completion-predictor:"member" help:"The member."`
	partyPlayer
}

// Run does it, and prints the party.
func (c partyMemberAct) Run(ctx context.Context, line *kong.Context, s *session, api playerAPI) error {
	return c.inParty(ctx, s, api, func(p *client.Party) (*client.Party, error) {
		if line.Selected().Name == "lead" {
			return api.SetPartyLeader(ctx, p.ID, c.Member, c.Player)
		}
		switch player, err := c.self(s); {
		case err != nil:
			return nil, err
		case player == c.Member:
			return nil, usageError(`a player does not remove itself: use "mm party leave"`)
		}
		return api.KickPartyMember(ctx, p.ID, c.Member, c.Player)
	})
}

type partyDisband struct{ partyPlayer }

// Run ends the party.
func (c partyDisband) Run(ctx context.Context, s *session, api playerAPI) error {
	return c.leaving(ctx, s, api, func(p *client.Party) error {
		return s.showDeletion("party", p.ID, api.DisbandParty(ctx, p.ID, c.Player))
	})
}

// showParty prints a party, unless there is an error.
func (s *session) showParty(p *client.Party, err error) error {
	if err != nil {
		return err
	}
	var g, members grid
	g.addMembers(p, "party=id, code, created:ms, ticket=search.ticket, searching since=search.started:ms")
	members.head = []any{"member", "joined", "ready", ""}
	for _, m := range p.Members {
		ready, role := "yes", ""
		if !m.Ready {
			ready = "no"
		}
		if m.ID == p.Leader {
			role = "leader"
		}
		members.add(m.ID, formatTime(time.UnixMilli(m.Joined)), ready, role)
	}
	return s.show(p, g, members)
}

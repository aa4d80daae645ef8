package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/issuer"
)

type tokenCommands struct {
	Player    playerToken    `cmd:"" help:"For a player's own tickets."`
	Developer developerToken `cmd:"" help:"For configs and functions."`
	Server    serverToken    `cmd:"" help:"For a game server, to backfill."`
	Service   serviceToken   `cmd:"" help:"For a game service, to act for players."`
}

type lifetime struct {
	TTL time.Duration `name:"ttl" default:"1h" help:"How long the token is valid." bounds:"1s.."`
}

// claimFlags are claims of a token that mm makes.
type claimFlags struct {
	Claim []claim `sep:"none" placeholder:"PATH=VALUE" help:"What the player's token vouches for, as game.skill=1200: a JSON value, or else text. May be repeated."`
}

// further are the claims by their paths.
func (f claimFlags) further() (map[string]any, error) {
	all := map[string]any{}
	for _, c := range f.Claim {
		if _, ok := all[c.path]; ok {
			return nil, usageError(fmt.Sprintf("--claim %s is given twice", c.path))
		}
		all[c.path] = c.value
	}
	return all, nil
}

// claim is PATH=VALUE.
type claim struct {
	path  string
	value any
}

// UnmarshalText is called by the parser.
func (c *claim) UnmarshalText(text []byte) error {
	path, value, ok := strings.Cut(string(text), "=")
	if !ok || path == "" {
		return fmt.Errorf("%q is not PATH=VALUE, such as game.skill=1200", text)
	}
	c.path, c.value = path, value
	if json.Valid([]byte(value)) {
		c.value = json.RawMessage(value)
	}
	return nil
}

type playerToken struct {
	lifetime
	claimFlags
	Player string `arg:"" completion-predictor:"player" help:"The player's identifier."`
}

// Run prints the token.
func (c playerToken) Run(s *session) (err error) {
	claims := asPlayer(c.Player)
	if claims.Further, err = c.further(); err != nil {
		return err
	}
	return s.printToken(claims, c.TTL)
}

type developerToken struct {
	lifetime
	Name string `arg:"" default:"developer" help:"The developer's identifier."`
	Role string `enum:"Owner,Manager,Support" default:"Owner" help:"Role in the project: Manager or Owner; Support looks and changes nothing."`
}

// Run prints the token.
func (c developerToken) Run(s *session) error {
	return s.printToken(issuer.Claims{Kind: auth.Developer, Subject: c.Name, Role: c.Role}, c.TTL)
}

type serverToken struct {
	lifetime
	Name string `arg:"" default:"server" help:"The game server's identifier."`
}

// Run prints the token.
func (c serverToken) Run(s *session) error {
	return s.printToken(issuer.Claims{Kind: auth.Server, Subject: c.Name}, c.TTL)
}

type serviceToken struct {
	lifetime
	Name  string `arg:"" default:"service" help:"The game service's identifier."`
	Scope string `enum:"matchmaking,matchmaking.read" default:"matchmaking" help:"matchmaking acts for players, matchmaking.read only reads."`
}

// Run prints the token.
func (c serviceToken) Run(s *session) error {
	return s.printToken(issuer.Claims{Kind: auth.Service, Subject: c.Name, Scope: c.Scope}, c.TTL)
}

func (s *session) printToken(claims issuer.Claims, ttl time.Duration) error {
	claims.Project, claims.TTL = s.Project, ttl
	token, err := s.mintToken(claims)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.out, token)
	return err
}

package client

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrSeat is what a refused seat pass is: errors.Is(err, ErrSeat). An error that is not ErrSeat says nothing about the
// pass: the keys could not be read.
var ErrSeat = errors.New("client: no valid seat pass")

const (
	seatIssuer   = "matchmaker-seats"
	seatAudience = "seat"
	// maxPass is the most bytes of a pass: more than the longest ids take.
	maxPass = 16 << 10
	// maxLeeway bounds how long after its end a pass is taken.
	maxLeeway = 5 * time.Minute
)

// SeatServer is what a game server knows of itself, and where seats are in. Match is the match that it was allocated
// for, Backfill the backfill ticket of its game, if there is one: at least one of both is needed. They are in the
// payload of its allocation. Connection is where players reach it; empty if it does not know.
type SeatServer struct {
	Project, Match, Backfill, Connection string
}

// SeatsOptions are how seat passes are verified.
type SeatsOptions struct {
	SeatServer

	// Keys are the keys that passes are signed with: SeatKeysAt or SeatKeysOf.
	Keys *SeatKeys
	// Leeway is how much the clocks of the service and of this machine may differ. The default is 30 seconds, the most
	// are five minutes.
	Leeway time.Duration
	// Now is the time; nil for time.Now.
	Now func() time.Time
}

// Seats verifies the seat passes of the players of a game: the results of their tickets have them (Assignment.Seats)
// where the config says so. It sends no request, but for the keys now and then. It is safe for concurrent use.
//
// A pass is good until it expires, also a second time: a server that lets each player in once must note who is there.
type Seats struct{ o SeatsOptions }

// NewSeats returns Seats of a game server.
func NewSeats(o SeatsOptions) (*Seats, error) {
	switch {
	case o.Project == "":
		return nil, errors.New("client: seats: Project is missing")
	case o.Match == "" && o.Backfill == "":
		return nil, errors.New("client: seats: Match and Backfill are missing, give one of them")
	case o.Keys == nil:
		return nil, errors.New("client: seats: Keys are missing")
	case o.Leeway < 0 || o.Leeway > maxLeeway:
		return nil, fmt.Errorf("client: seats: Leeway: at most %s", maxLeeway)
	}
	o.Leeway = cmp.Or(o.Leeway, 30*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Seats{o}, nil
}

// claims is what a pass says.
type claims struct {
	Issuer     string   `json:"iss"`
	Audience   audience `json:"aud"`
	Subject    string   `json:"sub"`
	Expires    float64  `json:"exp"`
	Issued     float64  `json:"iat"`
	Project    string   `json:"project"`
	Ticket     string   `json:"ticket"`
	Match      string   `json:"match"`
	Backfill   string   `json:"backfill"`
	Connection string   `json:"connection"`
}

// audience is a text or a list of texts.
type audience []string

// UnmarshalJSON is called by package json.
func (a *audience) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*a = audience{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(a))
}

// Check verifies a pass: that the service signed it, that it is good now, and that it is for this game on this server.
// It returns whose it is, and the player's ticket.
func (s *Seats) Check(ctx context.Context, pass string) (player, ticket string, err error) {
	text, err := s.verify(ctx, pass)
	if err != nil {
		return "", "", err
	}
	var c claims
	if json.Unmarshal(text, &c) != nil {
		return "", "", refuse("its claims are not readable")
	}
	if err := s.check(&c); err != nil {
		return "", "", err
	}
	return c.Subject, c.Ticket, nil
}

// CheckPlayer is Check for a player whose id is known by other means. Another player's pass is refused.
func (s *Seats) CheckPlayer(ctx context.Context, pass, player string) (ticket string, err error) {
	whose, ticket, err := s.Check(ctx, pass)
	if err == nil && whose != player {
		return "", refuse("it is another player's")
	}
	return ticket, err
}

func (s *Seats) check(c *claims) error {
	now := float64(s.o.Now().UnixMilli()) / 1000
	leeway := s.o.Leeway.Seconds()
	switch {
	case c.Issuer != seatIssuer:
		return refuse("it has another issuer")
	case len(c.Audience) != 1 || c.Audience[0] != seatAudience:
		return refuse("it is for another audience")
	case !(now < c.Expires+leeway):
		return refuse("it has expired")
	case c.Issued > now+leeway:
		return refuse("it was issued in the future")
	case c.Subject == "" || c.Ticket == "":
		return refuse("it names no player, or no ticket")
	case c.Project != s.o.Project:
		return refuse("it is for another project")
	case c.Backfill != "" && c.Backfill != s.o.Backfill:
		return refuse("it is for another backfill ticket")
	case c.Backfill == "" && (c.Match == "" || c.Match != s.o.Match):
		return refuse("it is for another match")
	case s.o.Connection != "" && c.Connection != s.o.Connection:
		return refuse("it is for another server")
	}
	return nil
}

// verify returns the claims of a pass that is signed with one of the keys.
func (s *Seats) verify(ctx context.Context, pass string) (text []byte, err error) {
	if len(pass) > maxPass {
		return nil, refuse("it is too long")
	}
	head, rest, _ := strings.Cut(pass, ".")
	body, sign, ok := strings.Cut(rest, ".")
	header, err := decode(head)
	if err != nil || !ok {
		return nil, refuse("it is no token")
	}
	var h struct {
		Algorithm string          `json:"alg"`
		Key       string          `json:"kid"`
		Critical  json.RawMessage `json:"crit"`
	}
	if json.Unmarshal(header, &h) != nil || h.Algorithm != "EdDSA" || h.Key == "" || h.Critical != nil {
		return nil, refuse("it is signed in another way")
	}
	signature, err := decode(sign)
	if err != nil || len(signature) != ed25519.SignatureSize {
		return nil, refuse("its signature is not readable")
	}
	key, err := s.o.Keys.find(ctx, h.Key)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, refuse("it is signed with an unknown key")
	}
	if !ed25519.Verify(key, []byte(pass[:len(head)+1+len(body)]), signature) {
		return nil, refuse("its signature is wrong")
	}
	if text, err = decode(body); err != nil {
		return nil, refuse("its claims are not readable")
	}
	return text, nil
}

// decode reads a part of a token.
func decode(part string) ([]byte, error) { return base64.RawURLEncoding.Strict().DecodeString(part) }

// refuse says why a pass is refused. It quotes nothing of the pass.
func refuse(reason string) error { return fmt.Errorf("%w: %s", ErrSeat, reason) }

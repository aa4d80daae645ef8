package provider

import (
	"encoding/json"
	"errors"
	"math"
	"slices"
)

// Payload is the match as its game server sees it: the same JSON object with every hosting system. The provider decides
// how the server gets it: as an annotation, in the body of an allocation, in an environment variable.
type Payload struct {
	// Allocation is Ref.Allocation.
	Allocation string `json:"allocation"`
	Project    string `json:"project"`
	Match      string `json:"match"`
	Config     string `json:"config"`
	Teams      []Team `json:"teams"`
	// Properties is the match properties, a JSON object; left out when there are none.
	Properties json.RawMessage `json:"matchProperties,omitempty"`
	// Backfill is the id of the match's backfill ticket.
	Backfill string `json:"backfillTicket,omitempty"`
	// Token is the server's token in clear.
	Token string `json:"token,omitempty"`
}

// ReadPayload reads a payload. Its error quotes nothing of it: the token is in it.
func ReadPayload(text []byte) (p Payload, err error) {
	if json.Unmarshal(text, &p) != nil {
		return Payload{}, errors.New("the match is no JSON object")
	}
	return p, nil
}

// Payload is PayloadWithin without a limit.
func (r *Request) Payload() ([]byte, error) { return r.PayloadWithin(math.MaxInt) }

// PayloadWithin is the request as its server sees it. It makes the server's token. It holds that in clear, and goes to
// the hosting system only. It has no players if it would take more bytes than most with them. Without them it may still
// take more: the caller checks it.
func (r *Request) PayloadWithin(most int) ([]byte, error) {
	if len(r.Properties) > 0 && !json.Valid(r.Properties) {
		return nil, Fail(Refused, "match properties are not JSON")
	}
	if r.Token == "" && r.Mint != nil {
		var err error
		if r.Token, err = r.Mint(); err != nil {
			return nil, err
		}
	}
	p := Payload{
		Allocation: r.Allocation(), Project: r.Project, Match: r.Match, Config: r.Config, Teams: r.Teams,
		Properties: r.Properties, Backfill: r.Backfill, Token: string(r.Token),
	}
	text, err := json.Marshal(p)
	if err != nil || len(text) <= most {
		return text, err
	}
	p.Teams = slices.Clone(r.Teams)
	for i := range p.Teams {
		p.Teams[i].Players = nil
	}
	return json.Marshal(p)
}

// Secret is what no error may repeat of the match: its players, its properties and its server's token, which
// PayloadWithin makes. The ids of a payload are told, and so is the word allocation.
func (r *Request) Secret() string {
	teams, _ := json.Marshal(r.Teams)
	return string(teams) + string(r.Properties) + string(r.Token)
}

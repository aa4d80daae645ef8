package insight

import (
	"math"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// event is an event as answers have it, with the names of event.proto.
type event struct {
	// ID is the place behind the event.
	ID         string   `json:"id"`
	Time       string   `json:"time"`
	Kind       string   `json:"kind"`
	Reason     string   `json:"reason,omitzero"`
	Error      string   `json:"error,omitzero"`
	Detail     string   `json:"detail,omitzero"`
	Match      string   `json:"match,omitzero"`
	Config     string   `json:"config,omitzero"`
	Revision   int64    `json:"revision,omitzero"`
	Backfill   string   `json:"backfill,omitzero"`
	Tickets    []string `json:"tickets,omitzero"`
	Player     uint32   `json:"player,omitzero"`
	Queue      string   `json:"queue,omitzero"`
	Acceptance int64    `json:"acceptance,omitzero"`
	Function   string   `json:"function,omitzero"`
	Upload     int64    `json:"upload,omitzero"`
	Score      *float64 `json:"score,omitzero"`
	Players    int32    `json:"players,omitzero"`
	Teams      []team   `json:"teams,omitzero"`
	Region     string   `json:"region,omitzero"`
	Parties    []uint32 `json:"parties,omitzero"`
	// Measures are what the function measured, and Attributes how far those differ that the config's report names.
	Measures   map[string]float64   `json:"measures,omitzero"`
	Attributes map[string]attribute `json:"attributes,omitzero"`
	// By is the author of the change.
	By       string `json:"by,omitzero"`
	Position uint64 `json:"position"`
	// Arrivals are the tickets of a created event, for queries that ask for them.
	Arrivals []*arrival `json:"arrivals,omitzero"`
}

// attribute is how far an attribute differs in a match. Gap is nil if fewer than two teams have it.
type attribute struct {
	Spread float64  `json:"spread"`
	Gap    *float64 `json:"gap,omitzero"`
}

// measuresOf is what the function measured of a match, and attributesOf how far attributes differ in it, as its first
// event says. They are nil if that says nothing.
func measuresOf(e *pb.Event) map[string]float64 {
	if len(e.GetMeasures()) == 0 {
		return nil
	}
	all := make(map[string]float64, len(e.GetMeasures()))
	for _, one := range e.GetMeasures() {
		all[one.GetName()] = one.GetValue()
	}
	return all
}

func attributesOf(e *pb.Event) map[string]attribute {
	if len(e.GetAttributes()) == 0 {
		return nil
	}
	all := make(map[string]attribute, len(e.GetAttributes()))
	for _, one := range e.GetAttributes() {
		all[one.GetName()] = attribute{one.GetSpread(), one.Gap}
	}
	return all
}

// team is a team of an event: the next so many of its tickets.
type team struct {
	Name    string `json:"name,omitzero"`
	Tickets int32  `json:"tickets"`
}

// formatTime is a time in Unix milliseconds.
func formatTime(ms int64) string { return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z") }

// kindName is the name of a kind of event.
func kindName(k pb.Event_Kind) string {
	return strings.ToLower(strings.TrimPrefix(k.String(), "KIND_"))
}

// scoreOf is the score of the first event of a match; nil if it is of another event, or no number.
func scoreOf(e *pb.Event) *float64 {
	score := e.GetScore()
	if e.GetFunction() == "" || e.GetKind() == pb.Event_KIND_FUNCTION || math.IsNaN(score) || math.IsInf(score, 0) {
		return nil
	}
	return &score
}

// encodeEvent returns an event as JSON. id is the place behind it.
func encodeEvent(id string, e *pb.Event, a arrivals) ([]byte, error) {
	one := event{
		ID: id, Time: formatTime(e.GetTime()), Kind: kindName(e.GetKind()), Reason: e.GetReason(), Error: e.GetError(),
		Detail: e.GetDetail(), Match: e.GetMatch(), Config: e.GetConfig(), Revision: e.GetRevision(),
		Backfill: e.GetBackfill(), Tickets: e.GetTickets(), Player: e.GetPlayer(), Queue: e.GetQueue(),
		Acceptance: e.GetAcceptance(), Function: e.GetFunction(), Upload: e.GetUpload(), Score: scoreOf(e),
		Players: e.GetPlayers(), Region: e.GetRegion(), Parties: e.GetParties(), Measures: measuresOf(e),
		Attributes: attributesOf(e), By: e.GetBy(), Position: e.GetPosition(), Arrivals: a.of(e),
	}
	for _, t := range e.GetTeams() {
		one.Teams = append(one.Teams, team{t.GetName(), t.GetTickets()})
	}
	return json.Marshal(&one)
}

package insight

import (
	"math"
	"time"

	"github.com/go-json-experiment/json"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/response"
)

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

func attributesOf(e *pb.Event) map[string]response.Difference {
	if len(e.GetAttributes()) == 0 {
		return nil
	}
	all := make(map[string]response.Difference, len(e.GetAttributes()))
	for _, one := range e.GetAttributes() {
		all[one.GetName()] = response.Difference{Spread: one.GetSpread(), Gap: one.Gap}
	}
	return all
}

// formatTime is a time in Unix milliseconds.
func formatTime(ms int64) string { return response.Time(time.UnixMilli(ms)) }

// scoreOf is the score of the first event of a match; nil if it is of another event, or no number.
func scoreOf(e *pb.Event) *float64 {
	score := e.GetScore()
	if e.GetFunction() == "" || e.GetKind() == pb.Event_KIND_FUNCTION || math.IsNaN(score) || math.IsInf(score, 0) {
		return nil
	}
	return &score
}

// EncodeEvent returns an event as JSON, as GET /events has it. id is the place behind it.
func EncodeEvent(id string, e *pb.Event) ([]byte, error) { return encodeEvent(id, e, nil) }

// encodeEvent returns an event as JSON. id is the place behind it.
func encodeEvent(id string, e *pb.Event, a arrivals) ([]byte, error) {
	one := response.Event{
		ID: id, Time: formatTime(e.GetTime()), Kind: response.EventKind(e.GetKind()), Reason: e.GetReason(),
		Error: e.GetError(), Detail: e.GetDetail(), Match: e.GetMatch(), Config: e.GetConfig(), Revision: e.GetRevision(),
		Backfill: e.GetBackfill(), Place: e.GetPlace(), Tickets: e.GetTickets(), Player: int(e.GetPlayer()),
		Queue:      e.GetQueue(),
		Acceptance: e.GetAcceptance(), Function: e.GetFunction(), Upload: e.GetUpload(), Score: scoreOf(e),
		Players: int(e.GetPlayers()), Region: e.GetRegion(), Measures: measuresOf(e),
		Attributes: attributesOf(e), By: e.GetBy(), Position: e.GetPosition(), Arrivals: a.of(e),
	}
	for _, n := range e.GetParties() {
		one.Parties = append(one.Parties, int(n))
	}
	for _, t := range e.GetTeams() {
		one.Teams = append(one.Teams, response.EventTeam{Name: t.GetName(), Tickets: int(t.GetTickets())})
	}
	return json.Marshal(&one)
}

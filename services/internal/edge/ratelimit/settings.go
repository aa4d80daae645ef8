package ratelimit

import "matchmaker.dev/services/internal/state"

// Settings limit requests of the APIs. The longest body fits into BodyBurst.
type Settings struct {
	ReadRate  float64 `help:"How many GETs a second, and as many DELETEs, one player may send to the Tickets API in the long run, and a game service about one ticket; 0 means no limit. Clients that poll send one a second; one with 'Prefer: wait' counts as one. This limit is of each process, which counts in memory." default:"20" bounds:"0..1000000" group:"tickets"`
	ReadBurst int     `help:"How many such requests may come at once." default:"200" bounds:"1.." rate:"read-rate" group:"tickets"`
	BodyRate  float64 `help:"How many MiB a second a project may send in the bodies of requests to the Tickets, Parties and Backfill API in the long run, to each process; 0 means no limit." default:"8" bounds:"0..1024" group:"tickets"`
	BodyBurst float64 `help:"How many such MiB may come at once." default:"32" bounds:"0.0625..1024" rate:"body-rate" group:"tickets"`
	APIRate   float64 `help:"How many requests a second a project may make to the Configs API, as many to the Functions API, and as many for events and matches; 0 means no limit. They are made by people and build servers." name:"api-rate" default:"20" bounds:"0..1000000" group:"process"`
	APIBurst  int     `help:"How many such requests a project may make at once." name:"api-burst" default:"200" bounds:"1.." rate:"api-rate" group:"process"`
}

// Reads limits how often one player may GET, and as often DELETE.
func (s *Settings) Reads() state.Rate { return state.Rate{PerSecond: s.ReadRate, Burst: s.ReadBurst} }

// Bodies limits how many bytes a project may send in bodies.
func (s *Settings) Bodies() state.Rate {
	return state.Rate{PerSecond: s.BodyRate * (1 << 20), Burst: int(s.BodyBurst * (1 << 20))}
}

// API limits how often a project may call the Configs API, and as often the Functions API.
func (s *Settings) API() state.Rate { return state.Rate{PerSecond: s.APIRate, Burst: s.APIBurst} }

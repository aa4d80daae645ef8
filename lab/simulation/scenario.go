package simulation

import (
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/cycle"
	"matchmaker.dev/services/lab/population"
)

// Scenario is what is simulated: configs and functions, the players, and what the service and the fleet take for it.
type Scenario struct {
	Name string
	// Configs are in the order of their ids. Functions are modules by the names of functions.
	Configs   []*pb.Config
	Functions map[string][]byte
	// Recording is the file whose tickets come instead of the population's; "" for none. Then the population has their
	// duration, and the patience of tickets of which the recording does not say how long they would have waited.
	Recording  string
	Population population.Population
	Service    Service
	// Fleets are the game servers of matches with these fleets. A name is a fleet's, or FLEET/REGION for the servers of
	// one of its regions. Fleet is the servers of all other matches.
	Fleet      Fleet
	Fleets     map[string]Fleet
	Acceptance Acceptance
	Measure    Measure
}

// Service is how the service is set up, and how fast it is.
type Service = cycle.Service

// Defaults are the settings' defaults, and what a machine with two cores takes for small pools.
func Defaults() Service { return cycle.Defaults() }

// Fleet is where matches of configs with hosting get their servers. The distributions are in seconds.
type Fleet struct {
	// Servers is how many there are; 0 for any number.
	Servers int
	// Allocation is how long it takes to get a server, Game how long it is used, and Restart how long it takes until it
	// is free again.
	Allocation, Game, Restart population.Distribution
	// Errors is the part of the allocations that fail. The config says what their tickets do then.
	Errors float64
	// Stay is how long a player stays in a game that can be filled; without it, until the game is over. Open is the
	// attribute by which the server says how many players it lacks, and Approval how long it takes to approve who is
	// proposed to it.
	Stay, Approval population.Distribution
	Open           string
	// Roster is set if the server says who is in its game, and Backfill if it makes a backfill ticket of its own for a
	// game whose function made none.
	Roster, Backfill bool
}

// Acceptance is what players say to a match that asks them.
type Acceptance struct {
	// Decline and Silent are parts of the players, all others accept.
	Decline, Silent float64
	// Answer is after how many seconds.
	Answer population.Distribution
}

// Measure says what is measured.
type Measure struct {
	// Attribute tells how good a match is.
	Attribute string
	// Tickets that come from From on, and before To, are measured; To is 0 for all.
	From, To time.Duration
}

// Package history is what was seen of a system while it was disturbed: by the players, by the studio, by the game
// servers, by the hosting system, and by who reads its event log. Nothing in it is from inside the system but that log.
//
// A history is written to a file as it happens, so that it can be read when the system, or whoever watched it, is long
// gone.
package history

import (
	"encoding/json"
	"time"
)

// Moment is a time, in microseconds since 1970. Everything that a history is made of runs on one machine, so all
// moments are by one clock.
type Moment int64

// Now is the moment that it is.
func Now() Moment { return At(time.Now()) }

// At is the moment of a time.
func At(t time.Time) Moment { return Moment(t.UnixMicro()) }

// Millis is the moment in the unit that the system writes times in, rounded down as the system does.
func (m Moment) Millis() int64 { return int64(m) / 1000 }

// Time is the moment as a time.
func (m Moment) Time() time.Time { return time.UnixMicro(int64(m)) }

// Span is a request: when it was sent, and when its answer was there or no longer waited for.
type Span struct {
	From Moment `json:"from"`
	To   Moment `json:"to"`
}

// History is all that was seen.
type History struct {
	Terms    Terms
	Calls    []Call
	Changes  []Change
	Rounds   []Round
	Hostings []Hosting
	Events   []Event
	Faults   []Fault
	// Calm is when the last fault was over and everything ran again.
	Calm Moment
}

// Terms are what the system was set to, and what the workload was.
type Terms struct {
	Seed uint64 `json:"seed"`
	// Claim is how long a claimed ticket waits for its allocation to begin, Allocation how long that may take.
	Claim      time.Duration `json:"claim"`
	Allocation time.Duration `json:"allocation"`
	// Recovery is what is added to both for the system to notice, on a machine that has other things to do.
	Recovery time.Duration `json:"recovery"`
	// Approval is how long a backfill ticket's proposals wait for its server's approval.
	Approval time.Duration `json:"approval"`
	// Enemies are the configs whose functions do all that a function must not do.
	Enemies []string `json:"enemies"`
}

// Op is what was asked for.
type Op string

// What is asked for.
const (
	Create Op = "create"
	Get    Op = "get"
	Delete Op = "delete"
	Put    Op = "put"
	Upload Op = "upload"
	// Approve lets the tickets proposed for a backfill ticket play.
	Approve Op = "approve"
	// Allocate and Release are asked of the hosting system.
	Allocate Op = "allocate"
	Release  Op = "release"
)

// Call is a player's request, and its answer.
type Call struct {
	Span
	Op      Op     `json:"op"`
	Project string `json:"project"`
	// Number is the player's: what match functions call the ticket.
	Number int64 `json:"number"`
	// Ticket is "" when a create has no answer.
	Ticket string `json:"ticket,omitempty"`
	// Status of the answer; 0 when there was none. What was asked for may have been done all the same.
	Status int `json:"status"`
	// Error is what the answer said when it was not success.
	Error string `json:"error,omitempty"`
	// Created and Assignment are of a GET that was answered 200; Assignment is nil while the ticket waits.
	Created    int64       `json:"created,omitempty"`
	Assignment *Assignment `json:"assignment,omitempty"`
}

// Assignment is what a player was told.
type Assignment struct {
	Connection string `json:"connection,omitempty"`
	Error      string `json:"error,omitempty"`
	// Match is what the match function wrote for all, Own for this player alone.
	Match json.RawMessage `json:"match,omitempty"`
	Own   json.RawMessage `json:"own,omitempty"`
}

// Properties are what the match functions of a run write for all players of a match.
type Properties struct {
	// Settings are those of the config, as the function got them.
	Settings Settings `json:"settings"`
	// Edition of the function.
	Edition int `json:"edition"`
	// Now is when the run began, by the director's clock, in milliseconds.
	Now int64 `json:"now"`
	// Players are the numbers of the tickets.
	Players []int64 `json:"players"`
	// Backfill is the connection of the running game that they are to join, and Version the record version that the
	// function saw.
	Backfill string `json:"backfill,omitempty"`
	Version  int64  `json:"version,omitempty"`
}

// Settings are what a config of a run tells its function.
type Settings struct {
	// Config is its own id, and Generation counts the times that a config was put.
	Config     string `json:"config"`
	Generation int64  `json:"generation"`
	// Hosted tells the function that its matches get servers.
	Hosted bool `json:"hosted"`
	// Fills tells the function to fill running games and open none.
	Fills bool `json:"fills"`
	// How it is to misbehave; "" when it is to do well.
	How string `json:"how,omitempty"`
}

// Change is a studio's request about a config or a function.
type Change struct {
	Span
	Op      Op     `json:"op"`
	Project string `json:"project"`
	// Name of the config or function.
	Name string `json:"name"`
	// Generation of the settings that are put: each put has one of its own, and they grow.
	Generation int64 `json:"generation,omitempty"`
	// Revision that the answer to a put told.
	Revision int64  `json:"revision,omitempty"`
	Status   int    `json:"status"`
	Error    string `json:"error,omitempty"`
}

// Round is a running game server's request about its backfill ticket.
type Round struct {
	Span
	Op       Op     `json:"op"`
	Project  string `json:"project"`
	Backfill string `json:"backfill,omitempty"`
	// Connection is the server's.
	Connection string `json:"connection"`
	// Version is the record version that the answer told, Tickets those that it said have joined.
	Version int64    `json:"version,omitempty"`
	Tickets []string `json:"tickets,omitempty"`
	Status  int      `json:"status"`
	Error   string   `json:"error,omitempty"`
}

// Hosting is what the hosting system was asked, and what it did.
type Hosting struct {
	// At is when it did it.
	At      Moment `json:"at"`
	Op      Op     `json:"op"`
	Project string `json:"project"`
	Match   string `json:"match"`
	// Key tells one allocation from others; a request that is sent again has the same.
	Key string `json:"key"`
	// Tickets are those that the server is to admit.
	Tickets []string `json:"tickets,omitempty"`
	// Connection of the server; "" where there is none.
	Connection string `json:"connection,omitempty"`
	// Fresh says that this request started the server, or ended it.
	Fresh bool `json:"fresh,omitempty"`
}

// Event is an entry of the system's own log of what happened.
type Event struct {
	Project string `json:"project"`
	// Position orders the events of a project. What has the same position happened in one step.
	Position uint64 `json:"position"`
	Kind     Kind   `json:"kind"`
	// Time in milliseconds, by the clock of the process that did it, before it did it.
	Time     int64    `json:"time"`
	Tickets  []string `json:"tickets,omitempty"`
	Match    string   `json:"match,omitempty"`
	Config   string   `json:"config,omitempty"`
	Revision int64    `json:"revision,omitempty"`
	Epoch    uint64   `json:"epoch,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Error    string   `json:"error,omitempty"`
	// Backfill is the backfill ticket that the tickets are proposed to, or joined.
	Backfill string `json:"backfill,omitempty"`
}

// Kind of an event.
type Kind string

// The kinds.
const (
	Created    Kind = "created"
	Claimed    Kind = "claimed"
	Allocating Kind = "allocating"
	Assigned   Kind = "assigned"
	Failed     Kind = "failed"
	Released   Kind = "released"
	Cancelled  Kind = "cancelled"
	Expired    Kind = "expired"
	Returned   Kind = "returned"
	Proposed   Kind = "proposed"
	Rejected   Kind = "rejected"
	Gap        Kind = "gap"
)

// Fault is a disturbance that was done.
type Fault struct {
	Span
	Kind   string `json:"kind"`
	Target string `json:"target"`
}

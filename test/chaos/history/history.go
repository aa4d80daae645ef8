// Package history has the history of a run: the requests and answers of players, studios and game servers, what the
// hosting system did, and the system's event log. Only the event log is from inside the system.
//
// A history is written to a journal file while it happens, so that it can be checked again later.
package history

import (
	"encoding/json"
	"time"
)

// Moment is a time in microseconds since 1970. The whole run is on one machine, so all moments are of one clock.
type Moment int64

// Now is the current moment.
func Now() Moment { return At(time.Now()) }

// At is the moment of a time.
func At(t time.Time) Moment { return Moment(t.UnixMicro()) }

// Millis is the moment in milliseconds, rounded down, as the system writes times.
func (m Moment) Millis() int64 { return int64(m) / 1000 }

// Time is the moment as a time.
func (m Moment) Time() time.Time { return time.UnixMicro(int64(m)) }

// Span is the time of a request: from when it was sent until its answer came, or the client gave up.
type Span struct {
	From Moment `json:"from"`
	To   Moment `json:"to"`
}

// History is the history of a run.
type History struct {
	Terms    Terms
	Calls    []Call
	Steps    []Step
	Changes  []Change
	Rounds   []Round
	Hostings []Hosting
	Events   []Event
	Faults   []Fault
	Losses   []Loss
	// Calm is when the last fault was over and all processes ran again.
	Calm Moment
}

// Terms are the settings of the system and the workload.
type Terms struct {
	Seed uint64 `json:"seed"`
	// Claim is how long a claimed ticket waits for its allocation to begin, Allocation how long that may take.
	Claim      time.Duration `json:"claim"`
	Allocation time.Duration `json:"allocation"`
	// Recovery is added to both: the time in which the system notices and repairs what a fault broke.
	Recovery time.Duration `json:"recovery"`
	// Directors are the processes of which one leads a project, and ends its claims. Redis is all that they need for
	// that: Stores are its servers.
	Directors []string `json:"directors"`
	Stores    []string `json:"stores"`
	// Answerers are the processes that take what players say to a match. One of them is enough.
	Answerers []string `json:"answerers"`
	// Approval is how long proposals for a backfill ticket wait for its server's approval.
	Approval time.Duration `json:"approval"`
	// Silence is for how long a member of a party may be silent.
	Silence time.Duration `json:"silence"`
	// Takeover is how long it may take after the faults until an upload runs; 0 if only Recovery is known.
	Takeover time.Duration `json:"takeover,omitempty"`
	// Enemies are the configs whose functions misbehave.
	Enemies []string `json:"enemies"`
}

// Op is an operation.
type Op string

// The operations.
const (
	Create Op = "create"
	Get    Op = "get"
	Delete Op = "delete"
	Put    Op = "put"
	Upload Op = "upload"
	// Remove deletes a function.
	Remove Op = "remove"
	// Rollback, Canary and Promote let an upload run that is kept. Shadow lets it run beside.
	Rollback Op = "rollback"
	Canary   Op = "canary"
	Promote  Op = "promote"
	Shadow   Op = "shadow"
	// Accept and Decline are what players say to a match that asks them.
	Accept  Op = "accept"
	Decline Op = "decline"
	// Report is the report of a match's result, and Standing reads how many results a player has.
	Report   Op = "report"
	Standing Op = "standing"
	// Join, Leave, Kick, HandOver, Update, Search, Stop and Disband are what members of parties do.
	Join     Op = "join"
	Leave    Op = "leave"
	Kick     Op = "kick"
	HandOver Op = "hand over"
	Update   Op = "update"
	Search   Op = "search"
	Stop     Op = "stop"
	Disband  Op = "disband"
	// Approve approves the tickets that are proposed for a backfill ticket.
	Approve Op = "approve"
	// Allocate and Release are operations of the hosting system.
	Allocate Op = "allocate"
	Release  Op = "release"
)

// Call is a player's request, and its answer.
type Call struct {
	Span
	Op      Op     `json:"op"`
	Project string `json:"project"`
	// Number is the player's number, by which match functions name the ticket.
	Number int64 `json:"number"`
	// Bytes are the bytes of the properties of a create, and of a GET that was answered 200.
	Bytes int `json:"bytes,omitempty"`
	// Configs are the configs whose pools have the ticket of a create, if their matches need nothing but two tickets.
	Configs []string `json:"configs,omitempty"`
	// Key is the Idempotency-Key of a create, and Player its owner, if that is not the player of its number. Key of a
	// report tells the results that are reported of a match apart.
	Key    string `json:"key,omitempty"`
	Player string `json:"player,omitempty"`
	// Ticket is "" when a create has no answer.
	Ticket string `json:"ticket,omitempty"`
	// Party and Players describe a create that is the search of a party. Its From is when the ticket was created.
	Party   string   `json:"party,omitempty"`
	Players []string `json:"players,omitempty"`
	// A report names Leavers. Its answer has the Players of the result, and by how much it moved the means of their
	// ratings. A read of a Player has Games, how many of these the player Left, and by how much all moved the mean.
	Leavers []string           `json:"leavers,omitempty"`
	Moved   map[string]float64 `json:"moved,omitempty"`
	Games   int                `json:"games,omitempty"`
	Left    int                `json:"left,omitempty"`
	// Match is the one that a player accepts or declines, or whose result is reported.
	Match string `json:"match,omitempty"`
	// Status of the answer; 0 when there was none. The request may have been carried out all the same.
	Status int `json:"status"`
	// Error is the text of an answer that was no success.
	Error string `json:"error,omitempty"`
	// Created and Assignment are of a GET that was answered 200; Assignment is nil while the ticket waits.
	Created    int64       `json:"created,omitempty"`
	Assignment *Assignment `json:"assignment,omitempty"`
	// End is why the ticket ended, where the answer says so instead of 404, which is the status then.
	End string `json:"end,omitempty"`
}

// Step is a request of a member of a party, and its answer.
type Step struct {
	Span
	Op      Op     `json:"op"`
	Project string `json:"project"`
	Player  string `json:"player"`
	// Party is "" if the request names none and has no answer.
	Party string `json:"party,omitempty"`
	// Other is the member that is kicked, or is to lead.
	Other string `json:"other,omitempty"`
	// Revision is 0 if the answer has no party. The others are what it says of that revision: Members are the oldest
	// first, Unready are the members that are not ready, and Ticket is the search's, "" if there is none.
	Revision int64    `json:"revision,omitempty"`
	Leader   string   `json:"leader,omitempty"`
	Members  []string `json:"members,omitempty"`
	Unready  []string `json:"unready,omitempty"`
	Ticket   string   `json:"ticket,omitempty"`
	Status   int      `json:"status"`
	Error    string   `json:"error,omitempty"`
}

// Assignment is the result that a player got.
type Assignment struct {
	Connection string `json:"connection,omitempty"`
	Error      string `json:"error,omitempty"`
	// Match are the properties for all players of the match, Own the properties for this player.
	Match json.RawMessage `json:"match,omitempty"`
	Own   json.RawMessage `json:"own,omitempty"`
	// Seats are what the seat passes say, by player.
	Seats map[string]Seat `json:"seats,omitempty"`
}

// Seat is what a seat pass says.
type Seat struct {
	Player     string `json:"sub"`
	Project    string `json:"project"`
	Ticket     string `json:"ticket"`
	Match      string `json:"match"`
	Backfill   string `json:"backfill"`
	Connection string `json:"connection"`
}

// Properties are what the match functions write for all players of a match.
type Properties struct {
	// Settings are the config's, as the function got them.
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

// Settings are the settings of a config for its function.
type Settings struct {
	// Config is its own id, and Generation counts the times that a config was put.
	Config     string `json:"config"`
	Generation int64  `json:"generation"`
	// Hosted tells the function that its matches get servers.
	Hosted bool `json:"hosted"`
	// Fills tells the function to fill running games and open none.
	Fills bool `json:"fills"`
	// Seats: its players get seat passes.
	Seats bool `json:"seats,omitempty"`
	// How the function misbehaves; "" when it does not.
	How string `json:"how,omitempty"`
}

// Change is a studio's request about a config or a function.
type Change struct {
	Span
	Op      Op     `json:"op"`
	Project string `json:"project"`
	// Name of the config or function.
	Name string `json:"name"`
	// Generation of the settings that are put. Each PUT has a new one, and they grow.
	Generation int64 `json:"generation,omitempty"`
	// Revision is in the answer to a PUT.
	Revision int64 `json:"revision,omitempty"`
	// Edition is the edition of the function that is uploaded, or that is to run, and Version the number of the upload, if
	// they are known. Lasts is how long a canary runs.
	Edition int           `json:"edition,omitempty"`
	Version int64         `json:"version,omitempty"`
	Lasts   time.Duration `json:"lasts,omitempty"`
	Status  int           `json:"status"`
	Error   string        `json:"error,omitempty"`
}

// Round is a running game server's request about its backfill ticket.
type Round struct {
	Span
	Op       Op     `json:"op"`
	Project  string `json:"project"`
	Backfill string `json:"backfill,omitempty"`
	// Connection is the server's.
	Connection string `json:"connection"`
	// Version is the record version in the answer, Tickets the tickets that have joined by the answer.
	Version int64    `json:"version,omitempty"`
	Tickets []string `json:"tickets,omitempty"`
	// Players are the players in the game from its beginning, as far as the server says it.
	Players []string `json:"players,omitempty"`
	Status  int      `json:"status"`
	Error   string   `json:"error,omitempty"`
}

// Hosting is a request to the hosting system and what it did.
type Hosting struct {
	// At is when it did it.
	At      Moment `json:"at"`
	Op      Op     `json:"op"`
	Project string `json:"project"`
	Match   string `json:"match"`
	// Key identifies an allocation. A request that is sent again has the same key.
	Key string `json:"key"`
	// Fleet is that which is asked; "" if there is but one.
	Fleet string `json:"fleet,omitempty"`
	// Tickets are the tickets that may join the server.
	Tickets []string `json:"tickets,omitempty"`
	// Connection of the server; "" where there is none.
	Connection string `json:"connection,omitempty"`
	// Fresh tells that this request started or ended the server.
	Fresh bool `json:"fresh,omitempty"`
}

// Event is an entry of the system's event log.
type Event struct {
	Project string `json:"project"`
	// Position orders the events of a project. Events with the same position happened in one step.
	Position uint64 `json:"position"`
	Kind     Kind   `json:"kind"`
	// Time in milliseconds, which the process took before it made the change.
	Time     int64    `json:"time"`
	Tickets  []string `json:"tickets,omitempty"`
	Match    string   `json:"match,omitempty"`
	Config   string   `json:"config,omitempty"`
	Revision int64    `json:"revision,omitempty"`
	Epoch    uint64   `json:"epoch,omitempty"`
	// Upload is the upload of the function which proposed the match.
	Upload int64  `json:"upload,omitempty"`
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// Backfill is the backfill ticket that the match was made with, or whose game it goes to, as Place of the first
	// event says: "backfill/" and the same.
	Backfill string `json:"backfill,omitempty"`
	Place    string `json:"place,omitempty"`
	// Acceptance is for how many milliseconds the players of a claimed match may accept it; 0 if they are not asked.
	Acceptance int64 `json:"acceptance,omitempty"`
	// Player is the player that accepted or declined: a number from 1 among the players of the ticket, 0 if the owner
	// is the only one.
	Player int64 `json:"player,omitempty"`
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
	Gap        Kind = "gap"
	Full       Kind = "full"
	Accepted   Kind = "accepted"
	Declined   Kind = "declined"
	Function   Kind = "function"
	Unserved   Kind = "unserved"
	Result     Kind = "result"
)

// Fault is a fault that was injected.
type Fault struct {
	Span
	Kind   string `json:"kind"`
	Target string `json:"target"`
}

// Loss is a time whose writes may be lost: another server became the primary of some projects, and had them not.
type Loss struct {
	Span
	Projects []string `json:"projects"`
}

// Overlaps reports whether two spans have a moment in common.
func (s Span) Overlaps(other Span) bool { return s.From <= other.To && other.From <= s.To }

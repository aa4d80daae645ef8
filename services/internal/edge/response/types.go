// Code generated from openapi.yaml. DO NOT EDIT.

package response

import "encoding/json"

// Regions: The regions whose latency clients can measure.
type Regions struct {
	Regions []Region `json:"regions"`
	// For how long a receipt is believed, in seconds; 0 where there is no region.
	ReceiptSeconds int `json:"receiptSeconds"`
}

// Region: A place that answers probes.
type Region struct {
	Name string `json:"name"`
	// `beacon`: a beacon, whose receipts the service believes. `playfab`: it answers as PlayFab's beacons do. `echo`:
	// it answers with what it was asked, as `agones-ping` does. What the last two measure is a client's own word.
	Protocol string `json:"protocol"`
	// Host and port that answer by UDP; absent for none.
	UDP string `json:"udp,omitzero"`
	// URL below which `/probe` answers by HTTP, for browsers; absent for none.
	URL string `json:"url,omitzero"`
}

// Player: A player of a ticket. `attributes` and `properties` are absent when there are none, or are not the reader's.
type Player struct {
	// As the subject of the player's token, in up to 256 bytes.
	ID string `json:"id"`
	// Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other
	// limits. The service sets the attribute `created` itself.
	Attributes map[string]float64 `json:"attributes,omitzero"`
	// Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
	// 128 bytes, unless the installation sets other limits.
	Properties map[string][]byte `json:"properties,omitzero"`
}

// CreatedTicket:
type CreatedTicket struct {
	// The ticket's identifier. Do not expect a certain form of it.
	ID string `json:"id"`
	// A leftover of an older way to report errors. Always null.
	Status json.RawMessage `json:"status"`
	// Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other
	// limits. The service sets the attribute `created` itself.
	Attributes map[string]float64 `json:"attributes,omitzero"`
	// Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
	// 128 bytes, unless the installation sets other limits.
	Properties map[string][]byte `json:"properties,omitzero"`
	// As in Ticket, if the answer waited. So are `attributes`, `properties`, `assignment` and `players`.
	Created int64 `json:"created,omitzero"`
	// Null when there was no result in time.
	Assignment *Assignment `json:"assignment,omitzero"`
	// Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and properties,
	// and of the others the ids; a game service sees all.
	Players []Player `json:"players,omitempty"`
	// The queues that the ticket waits in, sorted. Left out when there are none.
	Queues []string `json:"queues,omitempty"`
	// The ticket's queues that no config serves at present: no config matches the ticket there. Left out when there
	// are none, and when the ticket has a result.
	UnservedQueues []string `json:"unservedQueues,omitempty"`
	// The match without a result that a player of the ticket is in, where the settings tell it.
	Running string `json:"running,omitzero"`
}

// Party: Players who search for a match together, as one of them sees it.
type Party struct {
	ID string `json:"id"`
	// It lets others join. Empty for developers.
	Code string `json:"code"`
	// The member who starts and stops the search.
	Leader string `json:"leader"`
	// In Unix UTC milliseconds.
	Created int64 `json:"created"`
	// It grows with each change of the party. The ETag is made of it.
	Revision int64 `json:"revision"`
	// How many members there may be.
	Size int `json:"size"`
	// By when they joined, the oldest first.
	Members []PartyMember `json:"members"`
	// The last search since the members are these. Null when there was none.
	Search *PartySearch `json:"search"`
}

// PartySearch: A search of a party: a ticket with all members, which each of them can read.
type PartySearch struct {
	// The ticket of all members.
	Ticket string `json:"ticket"`
	// In Unix UTC milliseconds.
	Started int64 `json:"started"`
}

// PartyMember: A member of a party. Attributes and properties are shown to the member alone.
type PartyMember struct {
	// The player.
	ID string `json:"id"`
	// In Unix UTC milliseconds.
	Joined int64 `json:"joined"`
	Ready  bool  `json:"ready"`
	// Only the caller's own.
	Attributes map[string]float64 `json:"attributes,omitzero"`
	// Only the caller's own.
	Properties map[string][]byte `json:"properties,omitzero"`
}

// Ticket: A request for a match.
type Ticket struct {
	ID string `json:"id"`
	// Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other
	// limits. The service sets the attribute `created` itself.
	Attributes map[string]float64 `json:"attributes"`
	// Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
	// 128 bytes, unless the installation sets other limits.
	Properties map[string][]byte `json:"properties"`
	// When the ticket was created, in Unix UTC milliseconds. Pools query it as the attribute `created`.
	Created int64 `json:"created"`
	// The result of matchmaking. Null until there is one.
	Assignment *Assignment `json:"assignment"`
	// Whom the ticket is for. Absent when the owner is the only one. A player sees the own attributes and properties,
	// and of the others the ids; a game service sees all.
	Players []Player `json:"players,omitempty"`
	// The queues that the ticket waits in, sorted. Left out when there are none.
	Queues []string `json:"queues,omitempty"`
	// The ticket's queues that no config serves at present: no config matches the ticket there. Left out when there
	// are none, and when the ticket has a result.
	UnservedQueues []string    `json:"unservedQueues,omitempty"`
	Acceptance     *Acceptance `json:"acceptance,omitzero"`
	Estimate       *Estimate   `json:"estimate,omitzero"`
}

// Estimate: For how much longer the ticket waits until it is in a match, if it waits as tickets like it did lately:
// four of five wait for no less than `low`, and no longer than `high`, from the time of the answer. Left out where
// none was asked for or too little is known.
type Estimate struct {
	// In milliseconds.
	Low int64 `json:"low"`
	// In milliseconds.
	High int64 `json:"high"`
}

// Acceptance: What the ticket's match asks its players, while it does.
type Acceptance struct {
	// The match that asks.
	Match string `json:"match"`
	// For how many milliseconds they may answer.
	Remaining int64 `json:"remaining"`
	// How many players of all tickets of the match are asked.
	Players int `json:"players"`
	// How many of them accepted.
	Accepted int `json:"accepted"`
	// The players of this ticket who did not answer.
	Unanswered []string `json:"unanswered"`
}

// Assignment: What became of a ticket: a connection, or an error.
type Assignment struct {
	// How to connect to the game server or session. Empty when there is an error.
	Connection string `json:"connection"`
	// Why matchmaking failed, empty when it did not. Functions have texts of their own besides `PoolTimeout` (the
	// function gave up) and `AllocationError` (there was no game server for the match). Where the allowed number of
	// servers is zero, the error is `The hosting maximum of the fleet or its region is zero`. Studios find more in the
	// events and logs.
	Error string `json:"error"`
	// What the match function sets for this ticket alone. When the function uses the older assignment properties, and
	// neither ticket nor match properties, these are the same for all tickets of the match.
	Properties json.RawMessage `json:"properties"`
	// What the match function sets for all players and the game server.
	MatchProperties json.RawMessage `json:"matchproperties"`
	// An extension. Seat passes by player, if the match's config has `seats`: signed JSON Web Tokens that the players
	// show to the game server. A player gets the player's own, a game service those of all players of the ticket. They
	// are good for some minutes; another GET has new ones.
	Seats map[string]string `json:"seats,omitzero"`
}

// ProjectSettings: What a project asks of the service besides its configs. What is absent has its default.
type ProjectSettings struct {
	Tickets    *TicketRules     `json:"tickets,omitzero"`
	Acceptance *AcceptanceRules `json:"acceptance,omitzero"`
	// Who sets an attribute of tickets, by its name; `*` stands for all names that are not here. Without `*`, all
	// callers set those. At most 256.
	Attributes map[string]AttributeRule `json:"attributes,omitzero"`
	// Who sets a property of tickets, by its name; `*` stands for all names that are not here. Without `*`, all
	// callers set those. At most 256.
	Properties map[string]PropertyRule `json:"properties,omitzero"`
	// Ratings that results of matches give to players, by their names: 1 to 64 letters, digits, `.`, `_` and `-`. At
	// most 4. The tickets of a player have it as the attributes NAME and NAME.sigma; clients do not set these.
	Ratings  map[string]RatingRule `json:"ratings,omitzero"`
	Standing *StandingRules        `json:"standing,omitzero"`
	Support  *SupportRules         `json:"support,omitzero"`
	// Where events are sent, by a name of 1 to 32 of `a` to `z`, `0` to `9` and `-`. At most 8.
	Webhooks map[string]Webhook `json:"webhooks,omitzero"`
}

// Webhook: A URL to which events are sent, as CloudEvents that are signed as Standard Webhooks says.
type Webhook struct {
	// https, with port 443 or from 1024 on; or `nats:`, the NATS of the service.
	URL string `json:"url"`
	// Kinds of events, such as `assigned`; `*` for all. A `gap` is always sent.
	Events []string `json:"events"`
	// `whsec_` and Base64 of 24 to 64 bytes. Answers have `********`, which in a PUT stands for the stored one, as
	// does its absence. One that was replaced signs, too, for a day.
	Secret string `json:"secret,omitzero"`
}

// WebhookList: The webhooks of a project.
type WebhookList struct {
	Webhooks []WebhookStatus `json:"webhooks"`
}

// WebhookStatus: A webhook, and how the delivery to it is.
type WebhookStatus struct {
	Name   string   `json:"name"`
	URL    string   `json:"url"`
	Events []string `json:"events"`
	// `failing`: it took nothing lately; it gets one request at a time, at most a minute apart.
	State string `json:"state"`
	// When this state began; absent if it was always so.
	Since string `json:"since,omitzero"`
	// When it took an event last.
	Delivered string `json:"delivered,omitzero"`
	// Of its last answer; absent if there was none.
	Status int `json:"status,omitzero"`
	// Why the last request failed.
	Reason string `json:"reason,omitzero"`
	// How many events it did not take.
	DeadLetters int `json:"deadLetters"`
}

// DeadLetters: The dead letters of a webhook.
type DeadLetters struct {
	DeadLetters []DeadLetter `json:"deadLetters"`
}

// DeadLetter: An event that a webhook did not take.
type DeadLetter struct {
	// Of the event.
	ID string `json:"id"`
	// When it was given up.
	Time  string `json:"time"`
	Tries int    `json:"tries"`
	// Of the last answer; absent if there was none.
	Status int `json:"status,omitzero"`
	// Why the last request failed.
	Reason string `json:"reason,omitzero"`
	// The CloudEvent.
	Event json.RawMessage `json:"event"`
}

// SentLetter: What became of a dead letter that was sent again.
type SentLetter struct {
	ID        string `json:"id"`
	Delivered bool   `json:"delivered"`
	// Of the answer; absent if there was none.
	Status int `json:"status,omitzero"`
	// Why it was not delivered.
	Reason string `json:"reason,omitzero"`
}

// RatingRule: A rating. docs/ratings.md has the models, their parameters and their defaults.
type RatingRule struct {
	Model     string   `json:"model"`
	Mean      *float64 `json:"mean,omitzero"`
	Deviation *float64 `json:"deviation,omitzero"`
	Beta      *float64 `json:"beta,omitzero"`
	Tau       *float64 `json:"tau,omitzero"`
	// What a day without matches adds to the deviation, as variances add up.
	Growth     *float64 `json:"growth,omitzero"`
	Draw       *float64 `json:"draw,omitzero"`
	Volatility *float64 `json:"volatility,omitzero"`
	Margin     *float64 `json:"margin,omitzero"`
	// Whose matches count. Without it all do.
	Queues []string `json:"queues,omitempty"`
	// The attribute of tickets that a player's mean begins with.
	Start  string        `json:"start,omitzero"`
	Season *RatingSeason `json:"season,omitzero"`
	// Ratings of a greater deviation are provisional, and in no leaderboard.
	Provisional *float64 `json:"provisional,omitzero"`
	// How many deviations below the mean the value is that is shown; 3 without it.
	Below *float64 `json:"below,omitzero"`
	// The lowest first. A player is in the last one that begins at the value that is shown, or below it.
	Tiers []RatingTier `json:"tiers,omitzero"`
	// Players may read the leaderboard, with the ids of others.
	Public bool `json:"public,omitzero"`
}

// RatingTier:
type RatingTier struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
}

// RatingSeason: With a new name all ratings go back towards the start.
type RatingSeason struct {
	Name string `json:"name"`
	// Which part of the way from the start they keep; 1 without it.
	Keep *float64 `json:"keep,omitzero"`
}

// StandingRules: What is kept of players besides ratings, and put into their tickets as attributes; `recent` as a
// property. Clients do not set these. It is counted by results of matches.
type StandingRules struct {
	// How many results the player is in.
	Games bool `json:"games,omitzero"`
	// How many of these matches the player left before the end.
	Left bool `json:"left,omitzero"`
	// How many of the last opponents.
	Recent int `json:"recent,omitzero"`
	// What `PUT /players/{id}/standing` sets, by names of 1 to 64 letters, digits, `.`, `_` and `-`. At most 8.
	Numbers map[string]StandingNumber `json:"numbers,omitzero"`
}

// StandingNumber: A number of a player's standing.
type StandingNumber struct {
	// Of players without one that was set; 0 by default.
	Start *float64 `json:"start,omitzero"`
	// Which of its players' numbers a ticket has.
	Ticket string `json:"ticket,omitzero"`
}

// SupportRules: What developers with the role Support may see besides.
type SupportRules struct {
	// Properties of tickets, in captures of runs.
	Properties bool `json:"properties,omitzero"`
}

// AcceptanceRules: Rules for matches that ask their players.
type AcceptanceRules struct {
	Pause *Pause `json:"pause,omitzero"`
}

// Pause: How long a player who declined a match, or did not answer it, gets no further ticket: a create is answered
// 429. With `leavers` also one that left a match, as its result says.
type Pause struct {
	// The first time; each time is twice as long.
	Seconds int `json:"seconds"`
	// At most.
	MaxSeconds int  `json:"maxSeconds"`
	Leavers    bool `json:"leavers,omitzero"`
}

// TicketRules: Rules for the tickets of each player.
type TicketRules struct {
	PerPlayer *PerPlayer `json:"perPlayer,omitzero"`
	// The tickets of each player are listed. With `perPlayer` they are in any case.
	Listed bool `json:"listed,omitzero"`
	// A ticket that ends without a match has the reason as `assignment.error`, for as long as results are readable:
	// `abandoned`, `unserved`, `unheard`, `declined`, `silent`, `deleted` (by another of its players) or `replaced`.
	// Otherwise, and for whoever deleted it, it is 404.
	EndsTold bool `json:"endsTold,omitzero"`
	// What becomes of a new ticket of a player whose match has no result yet: `allow` (so it is when nothing is said),
	// `tell` (the answer of the create names the match as `running`) or `refuse` (409).
	Running string `json:"running,omitzero"`
	// A ticket with a queue that no config serves is refused with 400. One that was created under this setting ends,
	// as `unserved`, a while after no config serves any of its queues any more.
	RefuseUnserved bool     `json:"refuseUnserved,omitzero"`
	Silence        *Silence `json:"silence,omitzero"`
}

// PerPlayer: How many tickets a player may have.
type PerPlayer struct {
	// How many tickets without a result a player may have.
	Limit int `json:"limit"`
	// `refuse`, the default: the new ticket is answered 409. `replace`: the oldest ends.
	WhenReached string `json:"whenReached,omitzero"`
}

// Silence: A ticket that waits ends, as `unheard`, when no request asked for it for so long. Every GET, held request
// and stream of events asks; so do GETs of a party for its search.
type Silence struct {
	// How long it waits without a request.
	Seconds int `json:"seconds"`
}

// AttributeRule: Who sets an attribute.
type AttributeRule struct {
	// `client`: all callers. `service`: service tokens. `claim`: the service takes it from the player's token, or a
	// service token sets it. `beacon`: the service takes it from the receipts of beacons, or a service token sets it.
	// A player's token that sets what is not its own to set is answered 403.
	SetBy string `json:"setBy"`
	// The path of the claim, where `setBy` is `claim`: a claim's name, or names joined by dots. A token without the
	// claim leaves the attribute out; with one that is no number it is answered 403.
	Claim string `json:"claim,omitzero"`
	// The region, where `setBy` is `beacon`: the attribute is the round trip to it in milliseconds. Without a receipt
	// of its beacon the attribute is left out.
	Region string `json:"region,omitzero"`
}

// PropertyRule: Who sets a property.
type PropertyRule struct {
	// `client`: all callers. `service`: service tokens. `claim`: the service takes it from the player's token, or a
	// service token sets it; not for `*`. `beacon`: the service takes it from the receipts of beacons, or a service
	// token sets it; not for `*`. The property is an object of the round trips in milliseconds by region. A player's
	// token that sets what is not its own to set is answered 403.
	SetBy string `json:"setBy"`
	// The path of the claim, where `setBy` is `claim`: a claim's name, or names joined by dots. The property is the
	// JSON of the claim. A token without the claim leaves the property out.
	Claim string `json:"claim,omitzero"`
}

// PlayerExport: What the service stores of a player.
type PlayerExport struct {
	Player string `json:"player"`
	// Those that wait, are in a match, or have a result that can still be read.
	Tickets []Ticket     `json:"tickets"`
	Party   *PlayerParty `json:"party"`
	// Ids of parties that the player cannot join again.
	KickedFrom []string `json:"kickedFrom"`
	// What the player said to matches that still ask.
	Acceptances []PlayerAcceptance `json:"acceptances"`
	// Running games that the player is in, joins, or joined lately, and what their servers said.
	Games []PlayerGame `json:"games"`
	Pause *PlayerPause `json:"pause"`
	Rate  *PlayerRate  `json:"rate"`
	// Matches whose result is awaited or came within a day, in which the player was.
	Matches       []string           `json:"matches"`
	Ratings       []PlayerRating     `json:"ratings"`
	RatingChanges []RatingStep       `json:"ratingChanges"`
	Leaderboards  []LeaderboardPlace `json:"leaderboards"`
	Standing      Standing           `json:"standing"`
	// False when there is more than an export has, which is 1,000 of each kind, and 8 MiB of tickets.
	Complete bool `json:"complete"`
}

// PlayerParty: The party that the player is in, and what the player said there. Null for none.
type PlayerParty struct {
	ID     string `json:"id"`
	Leader bool   `json:"leader"`
	// Unix UTC milliseconds.
	Joined int64 `json:"joined"`
	Ready  bool  `json:"ready"`
	// Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other
	// limits. The service sets the attribute `created` itself.
	Attributes map[string]float64 `json:"attributes,omitzero"`
	// Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
	// 128 bytes, unless the installation sets other limits.
	Properties map[string][]byte `json:"properties,omitzero"`
}

// PlayerAcceptance:
type PlayerAcceptance struct {
	Match    string `json:"match"`
	Accepted bool   `json:"accepted"`
}

// PlayerGame:
type PlayerGame struct {
	// The id of the backfill ticket.
	Backfill string `json:"backfill"`
	Team     string `json:"team,omitzero"`
	Role     string `json:"role,omitzero"`
	// Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other
	// limits. The service sets the attribute `created` itself.
	Attributes map[string]float64 `json:"attributes,omitzero"`
}

// PlayerPause: Pauses after missed matches. Null when nothing is known.
type PlayerPause struct {
	// How many there were one after the other.
	Count int `json:"count"`
	// For how long the last one goes on.
	Seconds int `json:"seconds"`
	// For how long that is known at most.
	KeptSeconds int `json:"keptSeconds"`
}

// PlayerRate: The bucket of the rate of creates. Null when nothing is known.
type PlayerRate struct {
	// For how long it is known at most.
	KeptSeconds int `json:"keptSeconds"`
}

// ErasedPlayer: What became of what the service stored of a player.
type ErasedPlayer struct {
	Player string `json:"player"`
	// Tickets that ended, or that the player was taken out of.
	Tickets int `json:"tickets"`
	// Whether the player had ratings or a standing.
	Ratings bool `json:"ratings"`
	// Matches whose results are awaited or kept, out of which the player was taken.
	Matches int `json:"matches"`
	// Whether the player left a party.
	Party bool `json:"party"`
	// Dead letters of webhooks that were deleted, since they named the player or a ticket.
	DeadLetters int             `json:"deadLetters,omitzero"`
	Remains     []PlayerRemains `json:"remains"`
}

// PlayerRemains: What names a player and is stored on.
type PlayerRemains struct {
	// `acceptance`: an answer to a match that still asks. `feed`: what runners read of waiting tickets. `game`: a
	// running game, as its server says. `kicked`: a party that keeps the player out. `pause`: pauses after missed
	// matches. `rate`: the bucket of the rate of creates.
	Kind string `json:"kind"`
	// The match, the backfill ticket or the party.
	ID string `json:"id,omitzero"`
	// Until it goes at most. Absent where that depends on others.
	Seconds int `json:"seconds,omitzero"`
}

// SettingsHistory:
type SettingsHistory struct {
	Changes []SettingsChange `json:"changes"`
}

// SettingsChange: An element of the history of the settings.
type SettingsChange struct {
	ETag    string `json:"etag"`
	Changed string `json:"changed"`
	// The subject of the token that made the change.
	By       string          `json:"by"`
	Settings ProjectSettings `json:"settings"`
}

// Config: How matches are made: which function runs, over which tickets, and where its matches are played.
type Config struct {
	Matchmaking Matchmaking `json:"matchmaking"`
	// Which tickets the function gets, in pools that it knows by name. Without pools it gets all.
	Pools map[string][]PoolFilter `json:"pools,omitzero"`
	// The queue that the config serves: its pools select tickets of that queue alone. Without one they select tickets
	// without queues.
	Queue      string          `json:"queue,omitzero"`
	Acceptance *AcceptanceRule `json:"acceptance,omitzero"`
	// Gives the players of its matches seat passes. See `seats` of `Assignment`.
	Seats   bool        `json:"seats,omitzero"`
	Result  *ResultRule `json:"result,omitzero"`
	Report  *ReportRule `json:"report,omitzero"`
	Hosting *Hosting    `json:"hosting,omitzero"`
}

// Matchmaking: The function of a config and its settings.
type Matchmaking struct {
	// A friendly name.
	Name           string         `json:"name,omitzero"`
	TargetFunction FunctionTarget `json:"targetFunction"`
	// Settings that the function understands, in any form. They nest at most 32 deep, and numbers fit into 64 bits.
	Config json.RawMessage `json:"config,omitzero"`
}

// AcceptanceRule: Asks the players of each match whether they accept it. No server is allocated before all did, and no
// running game (backfill) learns of them. Without it players are not asked.
type AcceptanceRule struct {
	// For how long they may answer.
	Seconds int `json:"seconds"`
}

// ResultRule: Results of its matches are awaited (`POST /matches/{matchId}/result`), and count for ratings. Players
// find their running match. An event tells of a match without a result by then.
type ResultRule struct {
	// How long a match may take until its result.
	Seconds int `json:"seconds"`
}

// ReportRule: An extension. Tells more of how good the matches are, in events and in reports: how many players each
// ticket has, and how far attributes differ.
type ReportRule struct {
	// Attributes of tickets. `created` is none of them.
	Attributes []string `json:"attributes,omitzero"`
}

// MatchPage: Matches that run, and how many there are.
type MatchPage struct {
	Matches []ListedMatch `json:"matches"`
	// How many have no server and no end yet.
	Open int64 `json:"open"`
	// How many go to running games.
	Joining int64 `json:"joining"`
	// How many had their server or end, and are still known: most have a server.
	Ended int64 `json:"ended"`
	// How many have a server that is to be given back.
	Returning int64 `json:"returning"`
	// The place behind these, for `after`; absent at the end.
	Next string `json:"next,omitzero"`
}

// ListedMatch: A match that runs. What is not known is absent.
type ListedMatch struct {
	ID string `json:"id"`
	// As of `Match`.
	State  string `json:"state"`
	Config string `json:"config"`
	// That the config serves now.
	Queue   string `json:"queue,omitzero"`
	Created string `json:"created"`
	// How many seconds ago that was.
	Age float64 `json:"age"`
	// When it got its server.
	Allocated string `json:"allocated,omitzero"`
	Backfill  string `json:"backfill,omitzero"`
	Profile   string `json:"profile,omitzero"`
	Fleet     string `json:"fleet,omitzero"`
	Region    string `json:"region,omitzero"`
}

// BackfillPage: Backfill tickets, the one whose server called last first.
type BackfillPage struct {
	BackfillTickets []ListedBackfillTicket `json:"backfillTickets"`
	// The place behind these, for `after`; absent at the end.
	Next string `json:"next,omitzero"`
}

// ListedBackfillTicket: A running game that wants more players, without its properties.
type ListedBackfillTicket struct {
	ID string `json:"Id"`
	// When it was created, in Unix UTC milliseconds.
	Created int64 `json:"Created"`
	// How often its server changed it, from 1 on.
	RecordVersion int64 `json:"RecordVersion"`
	// Empty while its server is being allocated.
	Connection string             `json:"Connection"`
	Attributes map[string]float64 `json:"attributes"`
	Queue      string             `json:"queue,omitzero"`
	// That it was created with.
	Match string `json:"match,omitzero"`
	// The players in the game, if its server named them.
	Players []string `json:"players,omitzero"`
	// `open`: functions see it; `allocating`: its server is asked for; `asking`: players are asked whether they accept
	// this game; `approval`: its server must approve first; `lapsed`: its server did not approve in time.
	State string `json:"state"`
	// How many seconds ago it was created.
	Age float64 `json:"age"`
	// How many seconds ago its server called.
	Heard float64 `json:"heard"`
	// How many matches go to the game.
	Joining int64 `json:"joining"`
}

// ChangePage: Changes, the newest first.
type ChangePage struct {
	Changes []Change `json:"changes"`
	// The place behind these, for `after`; absent if there are no older ones.
	Next string `json:"next,omitzero"`
}

// Change: A change by a developer, or by the service itself. What is not known is absent.
type Change struct {
	ID   string `json:"id"`
	Time string `json:"time"`
	Kind string `json:"kind"`
	// The config, the function, or the `kid` of the key.
	Name string `json:"name,omitzero"`
	// `put`, `deleted`, `erased`, `signs`, or the reason of an event of the kind `function`.
	Action string `json:"action"`
	// The subject of the token; `operator` for a key. Absent if the service did it.
	By string `json:"by,omitzero"`
	// That the config or the settings have from then on.
	ETag string `json:"etag,omitzero"`
	// Of the function.
	Upload int64  `json:"upload,omitzero"`
	Detail string `json:"detail,omitzero"`
}

// WaitingPage: Tickets that wait, the oldest first.
type WaitingPage struct {
	Tickets []WaitingTicket `json:"tickets"`
	// How many tickets are selected.
	Total int64 `json:"total"`
	// The place behind these, for `after`; absent if there are no younger ones.
	Next string `json:"next,omitzero"`
}

// QueueList: The queues of a project at a time.
type QueueList struct {
	Time string `json:"time"`
	// How many tickets wait, in any queue or in none.
	Tickets int64   `json:"tickets"`
	Queues  []Queue `json:"queues"`
}

// Queue: A queue, and how many wait in it. A ticket of several queues counts in each.
type Queue struct {
	// Empty for the tickets without queues.
	Queue string `json:"queue"`
	// The configs that serve it. Without one, its tickets are not matched.
	Configs []string `json:"configs"`
	Tickets int64    `json:"tickets"`
	Players int64    `json:"players"`
	// For how many seconds its oldest ticket has waited; 0 without one.
	Oldest float64 `json:"oldest"`
}

// WaitingTicket: A ticket that waits, without its properties.
type WaitingTicket struct {
	ID string `json:"id"`
	// In Unix milliseconds, UTC.
	Created int64 `json:"created"`
	// For how many seconds it has.
	Waited  float64  `json:"waited"`
	Owner   string   `json:"owner"`
	Players []string `json:"players"`
	Queues  []string `json:"queues,omitzero"`
	// To which its players have the least latency on average, of those to which each of them has one: by the property
	// or the attributes that beacons prove, or without such a rule by the property `latency`. Absent if none is known,
	// and from properties for developers who see no properties.
	Region     string             `json:"region,omitzero"`
	Attributes map[string]float64 `json:"attributes"`
}

// EventPage: Events, the oldest first.
type EventPage struct {
	Events []Event `json:"events"`
	// The place behind what was looked at.
	Next string `json:"next"`
	// There may be more events now.
	More bool `json:"more"`
}

// Event: Kinds, reasons and members may be added. EVENTS.md of the service describes each kind.
type Event struct {
	// The place behind the event.
	ID   string `json:"id"`
	Time string `json:"time"`
	// created, claimed, allocating, assigned, failed, released, and so on
	Kind   string `json:"kind"`
	Reason string `json:"reason,omitzero"`
	// What players get.
	Error string `json:"error,omitzero"`
	// For people: why there was no server.
	Detail string `json:"detail,omitzero"`
	Match  string `json:"match,omitzero"`
	Config string `json:"config,omitzero"`
	// Of the config.
	Revision int64  `json:"revision,omitzero"`
	Backfill string `json:"backfill,omitzero"`
	// Where the connection of a claimed match comes from: hosting, or backfill/ and the id of the backfill ticket of a
	// running game.
	Place   string   `json:"place,omitzero"`
	Tickets []string `json:"tickets,omitzero"`
	// Which of the ticket's players it was, from 1; absent for its owner.
	Player int    `json:"player,omitzero"`
	Queue  string `json:"queue,omitzero"`
	// For how many milliseconds the players may accept the match.
	Acceptance int64 `json:"acceptance,omitzero"`
	// That made the match; this and what follows is of the first event of a match.
	Function string `json:"function,omitzero"`
	// Which upload of the function ran, from 1.
	Upload int64    `json:"upload,omitzero"`
	Score  *float64 `json:"score,omitzero"`
	// How many players the tickets have; absent if each has one.
	Players int `json:"players,omitzero"`
	// How the tickets are divided, in their order. It is absent if there is one team without a name.
	Teams []EventTeam `json:"teams,omitzero"`
	// That the function asks a server for.
	Region string `json:"region,omitzero"`
	// How many players each ticket has, in the order of the tickets; absent if each has one, or the config has no
	// `report`.
	Parties []int `json:"parties,omitzero"`
	// What the function measured of a match.
	Measures map[string]float64 `json:"measures,omitzero"`
	// How far those attributes differ in a match that the config's `report` names, as far as two tickets have them.
	Attributes map[string]Difference `json:"attributes,omitzero"`
	// The subject of the token that changed the function, or the config that served the queue; absent if the service
	// did.
	By string `json:"by,omitzero"`
	// Grows with each event of the project.
	Position uint64 `json:"position"`
	// The tickets of an event of the kind created, in their order, if they were asked for: null for those that are
	// gone.
	Arrivals []*Arrival `json:"arrivals,omitzero"`
}

// EventTeam: A team: the next so many of an event's tickets.
type EventTeam struct {
	Name    string `json:"name,omitzero"`
	Tickets int    `json:"tickets"`
}

// Arrival: A ticket that was created. Properties are absent if there are none, if the request did not ask for them,
// or, in a match, if the caller's role does not see them.
type Arrival struct {
	Attributes map[string]float64 `json:"attributes"`
	// Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
	// 128 bytes, unless the installation sets other limits.
	Properties map[string][]byte `json:"properties,omitzero"`
	Queues     []string          `json:"queues,omitzero"`
	Players    []Player          `json:"players"`
}

// Match: What became of a match.
type Match struct {
	ID string `json:"id"`
	// `asking`: its players are asked whether they accept it; `claimed`: it waits for an allocator; `allocating`: its
	// server is asked for; `proposed`: it goes to a running game, whose server has to approve; `assigned`; `failed`;
	// `released`: its tickets wait again.
	State  string `json:"state"`
	Config string `json:"config"`
	// Of the config.
	Revision int64  `json:"revision"`
	Function string `json:"function,omitzero"`
	// Which upload of the function made it, from 1.
	Upload  int64    `json:"upload,omitzero"`
	Score   *float64 `json:"score,omitzero"`
	Created string   `json:"created"`
	// When it had its result.
	Ended    string `json:"ended,omitzero"`
	Reason   string `json:"reason,omitzero"`
	Error    string `json:"error,omitzero"`
	Detail   string `json:"detail,omitzero"`
	Backfill string `json:"backfill,omitzero"`
	// How many players its tickets have.
	Players int `json:"players"`
	// How many of them accepted it, if it asked.
	Accepted int          `json:"accepted,omitzero"`
	Teams    []MatchTeam  `json:"teams"`
	Server   *MatchServer `json:"server,omitzero"`
	// That the config serves.
	Queue string `json:"queue,omitzero"`
	// That the function asked a server for.
	Region string `json:"region,omitzero"`
	// What the function measured of a match.
	Measures map[string]float64 `json:"measures,omitzero"`
	// How far those attributes differ in a match that the config's `report` names, as far as two tickets have them.
	Attributes map[string]Difference `json:"attributes,omitzero"`
	// When its result is to be there, if one is awaited.
	Due string `json:"due,omitzero"`
	// No result came by then.
	Missing bool         `json:"missing,omitzero"`
	Result  *MatchResult `json:"result,omitzero"`
}

// ReportedTeam: A team of a match that is over. All teams have a rank, or all have a score; with both, the rank
// counts, and the score where a rating has a `margin`.
type ReportedTeam struct {
	// As the match has it (its first 64 bytes count), or its number from 1 if it has none.
	Name string `json:"name,omitzero"`
	// The least is the best; equal ones drew.
	Rank int `json:"rank,omitzero"`
	// The highest is the best.
	Score   *float64         `json:"score,omitzero"`
	Players []ReportedPlayer `json:"players,omitzero"`
	// Whatever the server counts. They are kept with the result, and not looked at.
	Numbers map[string]float64 `json:"numbers,omitzero"`
}

// ReportedPlayer: A player of a match that is over.
type ReportedPlayer struct {
	ID string `json:"id"`
	// After how many seconds of the game the player left it before its end.
	Left *float64 `json:"left,omitzero"`
	// Whatever the server counts. They are kept with the result, and not looked at.
	Numbers map[string]float64 `json:"numbers,omitzero"`
}

// MatchResult: The result of a match.
type MatchResult struct {
	Teams []ReportedTeam `json:"teams"`
	// When this result came.
	Reported string `json:"reported"`
	// How many results it replaced.
	Corrections int            `json:"corrections"`
	Ratings     []RatingChange `json:"ratings,omitzero"`
}

// RatingChange: What the match did to a rating of a player.
type RatingChange struct {
	Player string `json:"player"`
	Rating string `json:"rating"`
	// The mean with which the match was counted.
	Before float64 `json:"before"`
	Mean   float64 `json:"mean"`
	Sigma  float64 `json:"sigma"`
}

// RunningMatch: The match that a player plays.
type RunningMatch struct {
	Match string `json:"match"`
	// The player's ticket.
	Ticket     string `json:"ticket"`
	Team       string `json:"team,omitzero"`
	Connection string `json:"connection"`
	// A seat pass.
	Seat  string `json:"seat,omitzero"`
	Began string `json:"began"`
	// When its result is to be there.
	Due string `json:"due"`
}

// PlayerRatings:
type PlayerRatings struct {
	Ratings []PlayerRating `json:"ratings"`
}

// PlayerRating: A rating of a player.
type PlayerRating struct {
	Name   string  `json:"name"`
	Season string  `json:"season,omitzero"`
	Mean   float64 `json:"mean"`
	Sigma  float64 `json:"sigma"`
	// What is shown to players: the mean less `below` deviations. Absent in exports.
	Value *float64 `json:"value,omitzero"`
	Tier  string   `json:"tier,omitzero"`
	// The player's place in the leaderboard of the season. Absent where the player is not in it.
	Rank        int  `json:"rank,omitzero"`
	Provisional bool `json:"provisional,omitzero"`
	// How many it is made of.
	Matches int    `json:"matches"`
	Changed string `json:"changed"`
}

// RatingHistory:
type RatingHistory struct {
	Changes []RatingStep `json:"changes"`
}

// RatingStep: What a match did to a rating of a player.
type RatingStep struct {
	Match string `json:"match"`
	// When the result came.
	Time   string      `json:"time"`
	Rating string      `json:"rating"`
	Before RatingPoint `json:"before"`
	After  RatingPoint `json:"after"`
}

// RatingPoint:
type RatingPoint struct {
	Mean  float64 `json:"mean"`
	Sigma float64 `json:"sigma"`
	// What is shown, by the settings of now.
	Value float64 `json:"value"`
}

// Leaderboard: A page of the best players of a season, by the value after their last match.
type Leaderboard struct {
	Rating string `json:"rating"`
	Season string `json:"season,omitzero"`
	// How many players are in it; at most the best 10,000.
	Total   int                `json:"total"`
	Players []LeaderboardEntry `json:"players"`
	// The `after` of the next page. Absent on the last one.
	Next int `json:"next,omitzero"`
}

// LeaderboardEntry:
type LeaderboardEntry struct {
	Rank   int     `json:"rank"`
	Player string  `json:"player"`
	Value  float64 `json:"value"`
	Tier   string  `json:"tier,omitzero"`
}

// LeaderboardPlace: A leaderboard that a player is in.
type LeaderboardPlace struct {
	Rating string  `json:"rating"`
	Season string  `json:"season,omitzero"`
	Rank   int     `json:"rank"`
	Value  float64 `json:"value"`
}

// Standing: What a project keeps of a player besides ratings.
type Standing struct {
	// How many results the player is in.
	Games int `json:"games"`
	// How many of these matches the player left before the end.
	Left int `json:"left"`
	// The last opponents, the latest first.
	Recent []string `json:"recent"`
	// Those that were set.
	Numbers map[string]float64 `json:"numbers"`
}

// MatchTeam: A team of a match. A match without teams has one, without a name.
type MatchTeam struct {
	Name string `json:"name,omitzero"`
	// How likely the team is to win, by each rating that all players of the match have, as long as their tickets are
	// there.
	Odds    map[string]float64 `json:"odds,omitzero"`
	Tickets []MatchTicket      `json:"tickets"`
}

// MatchTicket: A ticket of a match. Its `arrival` is absent when the ticket is gone, beyond 256 tickets, and beyond
// 512 KiB of arrivals.
type MatchTicket struct {
	ID string `json:"id"`
	// For how many seconds, until the match.
	Waited *float64 `json:"waited,omitzero"`
	// As long as the ticket is there, and of 256 tickets at most.
	Players []string `json:"players,omitzero"`
	Arrival *Arrival `json:"arrival,omitzero"`
}

// MatchServer: As far as it is known.
type MatchServer struct {
	Connection string `json:"connection,omitzero"`
	Profile    string `json:"profile,omitzero"`
	Fleet      string `json:"fleet,omitzero"`
	Region     string `json:"region,omitzero"`
}

// Difference: How far an attribute differs in a match.
type Difference struct {
	// The greatest value less the least.
	Spread float64 `json:"spread"`
	// The greatest mean of a team less the least; a ticket counts once for each of its players. Absent if fewer than
	// two teams have values.
	Gap *float64 `json:"gap,omitzero"`
}

// MatchReport: How good the matches of a time were. It has slots of five minutes, of a day; of an hour, of 30 days;
// and of a day, of 90 days: the shortest that are kept since then and of which the time has 400 at most.
type MatchReport struct {
	// How long a slot is.
	SlotSeconds int `json:"slotSeconds"`
	// When the first slot began.
	Since string           `json:"since"`
	Until string           `json:"until"`
	Rows  []MatchReportRow `json:"rows"`
	// How many matches are not in it, or not with all that was measured, for want of room; those of all configs.
	LeftOut int64 `json:"leftOut,omitzero"`
}

// MatchReportRow: What rows are not divided by is absent, and so is what these matches do not have.
type MatchReportRow struct {
	Config string `json:"config,omitzero"`
	// Of the config.
	Revision int64  `json:"revision,omitzero"`
	Function string `json:"function,omitzero"`
	// Which upload of the function made them, from 1.
	Upload int64  `json:"upload,omitzero"`
	Queue  string `json:"queue,omitzero"`
	Region string `json:"region,omitzero"`
	// How many players the ticket has, and of a match, its largest party; 6 is 6 or more. Absent if it is not known.
	Party int `json:"party,omitzero"`
	// In which tenth of the latest 512 tickets of the queue with a match the ticket is, by the first attribute of the
	// config's `report`; 10 has the greatest values. Tickets whose value several tenths have are in the middle one. A
	// match counts in each decile of its tickets, with `wait`, and `value`, `spread` and `gap` of that attribute.
	Decile int `json:"decile,omitzero"`
	// When the slot began in which they were made.
	Slot     string         `json:"slot,omitzero"`
	Matches  int64          `json:"matches"`
	Tickets  int64          `json:"tickets"`
	Players  int64          `json:"players"`
	Measures []Measure      `json:"measures"`
	Outcomes *MatchOutcomes `json:"outcomes,omitzero"`
}

// MatchOutcomes: What the first results of matches say that came in this time; the matches may be older. Absent if
// none came. Corrections do not count.
type MatchOutcomes struct {
	Results int64 `json:"results"`
	// Players in them.
	Players int64 `json:"players"`
	// The share of these players that left before the end, from 0 to 1.
	Left float64      `json:"left"`
	Odds []RatingOdds `json:"odds"`
}

// RatingOdds: How the odds of a rating compare with what came, of matches whose players all had one that was not
// provisional. Each pair of teams counts once, for its favorite; a draw is half of a win.
type RatingOdds struct {
	Rating string `json:"rating"`
	// How many pairs of teams were judged.
	Pairs int64 `json:"pairs"`
	// Mean of −ln of the odds of what came; 0.693 is a guess.
	LogLoss float64 `json:"logLoss"`
	// Mean square of how far the odds were from what came; 0.25 is a guess.
	Brier float64 `json:"brier"`
	// The pairs by the favorite's odds, in ten buckets from 0.5 to 1; those that have any.
	Calibration []OddsBucket `json:"calibration"`
}

// OddsBucket:
type OddsBucket struct {
	// The least odds of the bucket.
	From  float64 `json:"from"`
	Pairs int64   `json:"pairs"`
	// The mean of their odds.
	Predicted float64 `json:"predicted"`
	// The share that the favorites won.
	Won float64 `json:"won"`
}

// Measure: How values are spread.
type Measure struct {
	// `wait` of tickets in seconds, `spread` and `gap` of an attribute, `value` of the attribute of tickets of a
	// decile, `measure` of the function.
	Kind string `json:"kind"`
	// The attribute or the measure.
	Name string `json:"name,omitzero"`
	// How many values there are.
	Count int64   `json:"count"`
	Mean  float64 `json:"mean"`
	// A tenth of the values is less.
	P10 float64 `json:"p10"`
	P50 float64 `json:"p50"`
	P90 float64 `json:"p90"`
}

// TicketExplanation: Why a ticket waits.
type TicketExplanation struct {
	ID    string `json:"id"`
	State string `json:"state"`
	// Seconds since it was created.
	Waited float64 `json:"waited"`
	// 0 of a ticket that is gone.
	Players int      `json:"players"`
	Queues  []string `json:"queues,omitzero"`
	// Those of them that no config serves.
	UnservedQueues []string            `json:"unservedQueues,omitzero"`
	Configs        []ConfigExplanation `json:"configs"`
	History        *TicketHistory      `json:"history,omitzero"`
}

// TicketHistory: The latest matches in which the ticket was, the latest first, from events: claims, and proposals to
// running games. Ten at most.
type TicketHistory struct {
	Matches []TicketMatch `json:"matches"`
	// From when on events were looked at.
	Since string `json:"since"`
	// Whether that is all of the life of the ticket, and there were no more matches. Events that are not kept any more
	// are missing in either case.
	Complete bool       `json:"complete"`
	Ended    *TicketEnd `json:"ended,omitzero"`
	// Why not more is known.
	Error string `json:"error,omitzero"`
}

// TicketEnd: Why the ticket is gone, and when it went; absent if no event says it.
type TicketEnd struct {
	Reason string `json:"reason"`
	Time   string `json:"time"`
}

// TicketMatch: What became of a match in which a ticket was.
type TicketMatch struct {
	Match    string `json:"match"`
	State    string `json:"state"`
	Config   string `json:"config"`
	Revision int64  `json:"revision,omitzero"`
	Function string `json:"function,omitzero"`
	Upload   int64  `json:"upload,omitzero"`
	// What the function gave the match.
	Score *float64 `json:"score,omitzero"`
	// The backfill ticket of the running game.
	Backfill string `json:"backfill,omitzero"`
	// When the ticket was claimed or proposed.
	Created string `json:"created"`
	Ended   string `json:"ended,omitzero"`
	// Whether it ended without a connection for the ticket.
	Failed bool `json:"failed"`
	// The reason of the event that ended it. While it goes on, why there was no server at the last attempt.
	Reason string `json:"reason,omitzero"`
	// What players get.
	Error string `json:"error,omitzero"`
	// What the hosting system said, for the studio.
	Detail string `json:"detail,omitzero"`
}

// ConfigExplanation: What a config makes of a ticket.
type ConfigExplanation struct {
	Config   string `json:"config"`
	Function string `json:"function"`
	Queue    string `json:"queue,omitzero"`
	// Whether the ticket waits in the config's queue.
	Serves bool `json:"serves"`
	// Whether a pool of the config has the ticket; true without pools. The function gets it if `serves` is true too.
	InPool bool              `json:"inPool"`
	Pools  []PoolExplanation `json:"pools"`
	Run    *RunExplanation   `json:"run,omitzero"`
}

// PoolExplanation: Which filters of a pool hold for a ticket.
type PoolExplanation struct {
	Pool    string              `json:"pool"`
	Holds   bool                `json:"holds"`
	Filters []FilterExplanation `json:"filters"`
}

// FilterExplanation: A filter of a pool, and what the ticket has.
type FilterExplanation struct {
	Attribute string   `json:"attribute,omitzero"`
	Count     string   `json:"count,omitzero"`
	Min       *float64 `json:"min,omitzero"`
	Max       *float64 `json:"max,omitzero"`
	// What the ticket has; absent if it has no such attribute.
	Value *float64 `json:"value,omitzero"`
	Holds bool     `json:"holds"`
	// How far the value is outside of the bounds.
	By *float64 `json:"by,omitzero"`
}

// RunExplanation: What came of a run of the function that was asked about the ticket.
type RunExplanation struct {
	// Why the run failed.
	Error string `json:"error,omitzero"`
	// How many tickets the function got.
	Tickets   int `json:"tickets"`
	Proposals int `json:"proposals"`
	// Whether a proposal has the ticket. It may wait for a better one, for a server, or for the next cycle.
	Proposed bool     `json:"proposed"`
	Reasons  []Reason `json:"reasons"`
	// Where the ticket stands by age among those that the function got, from 1.
	Place int           `json:"place,omitzero"`
	Seen  *Seen         `json:"seen,omitzero"`
	Best  *BestProposal `json:"best,omitzero"`
	// How many proposals of the run have the ticket. Absent like `best`.
	Holding int `json:"holding,omitzero"`
	// The best of them, the best first. Absent like `best`.
	With []BestProposal `json:"with,omitzero"`
}

// Reason: What a function says of a ticket.
type Reason struct {
	// What the function says.
	Reason string `json:"reason"`
	// How many other tickets could be with it if it were not for the reason.
	Candidates *int `json:"candidates,omitzero"`
}

// Seen: How many runs for the config there were at least since the ticket was created, in all segments of its pools,
// and when the first was asked for at the latest. Absent if the runner does not know. Those of the first tenth or so
// of the ticket's time may be missing.
type Seen struct {
	Runs int `json:"runs"`
	// When the first of them was asked for.
	Since string `json:"since"`
}

// BestProposal: The best proposal with the ticket, beside those of all configs. Absent if there is none, or there were
// too many to compare.
type BestProposal struct {
	Score   float64         `json:"score"`
	Tickets int             `json:"tickets"`
	LosesTo *BetterProposal `json:"losesTo,omitzero"`
}

// BetterProposal: The proposal with one of its tickets that is better; absent if it wins.
type BetterProposal struct {
	Config string  `json:"config"`
	Score  float64 `json:"score"`
	// By how much its score is better; at 0 its oldest ticket is older.
	By float64 `json:"by"`
}

// ConfigList:
type ConfigList struct {
	Configs []ListedConfig `json:"configs"`
}

// ListedConfig: A config in the list of all.
type ListedConfig struct {
	ID string `json:"id"`
	// Its `ETag`, for `If-Match`.
	ETag string `json:"etag"`
	Name string `json:"name,omitzero"`
	// The name of its function.
	Function string `json:"function"`
	// The queue that it serves; absent if it serves tickets without queues.
	Queue string `json:"queue,omitzero"`
	// How many pools it has; without any, the function gets all tickets.
	Pools int `json:"pools"`
	// Whether its matches get servers.
	Hosted bool `json:"hosted"`
}

// CreatedConfig:
type CreatedConfig struct {
	ID string `json:"id"`
}

// CheckedConfig: A config that would be stored.
type CheckedConfig struct {
	// Whether there is no such config yet.
	Creates  bool         `json:"creates"`
	Warnings []Validation `json:"warnings"`
}

// Simulation: A config that is tried on the last hour.
type Simulation struct {
	ID string `json:"id"`
	// The identifier of the config.
	Config string `json:"config"`
	State  string `json:"state"`
	// From 0 to 1.
	Progress float64 `json:"progress"`
	Updated  string  `json:"updated"`
	// Why it failed.
	Error string `json:"error,omitzero"`
	// The config that is tried, its hosting keys masked.
	Tried *Config `json:"tried,omitzero"`
	// Since when tickets are known; an hour ago at most.
	RecordedSince string `json:"recordedSince,omitzero"`
	// Up to when they were played. It is earlier than the start of the simulation if it may not compute longer.
	PlayedUntil string           `json:"playedUntil,omitzero"`
	Present     *SimulatedConfig `json:"present,omitzero"`
	Alternative *SimulatedConfig `json:"alternative,omitzero"`
}

// SimulatedConfig: What became of the tickets. There is no present one if there is no config.
type SimulatedConfig struct {
	// How many came.
	Tickets int64 `json:"tickets"`
	Players int64 `json:"players"`
	// Tickets that are in a match.
	Matched int64 `json:"matched"`
	// Tickets that left before.
	Left int64 `json:"left"`
	// Tickets that the function gave an error.
	Failed int64 `json:"failed"`
	// Tickets that wait at the end.
	Waiting int64 `json:"waiting"`
	Matches int64 `json:"matches"`
	// How often functions ran.
	Runs int64 `json:"runs"`
	// Quantiles of the waits of matched tickets in seconds, evenly from the shortest to the longest.
	Waits []float64 `json:"waits"`
	// As reports have them, of the attributes that most tickets have.
	Measures []Measure `json:"measures"`
}

// ConfigHistory:
type ConfigHistory struct {
	Changes []ConfigChange `json:"changes"`
}

// ConfigChange: An element of the history of a config.
type ConfigChange struct {
	ETag string `json:"etag"`
	// Absent if a version without a history made the change.
	Changed string `json:"changed,omitzero"`
	// The subject of the token that made the change.
	By string `json:"by,omitzero"`
	// True if the config is what this change made of it, absent otherwise.
	Current bool `json:"current,omitzero"`
	// True if the change was the deletion, absent otherwise.
	Deleted bool `json:"deleted,omitzero"`
	// The config after the change. Absent if it was deleted, and if that is not kept.
	Config *Config `json:"config,omitzero"`
}

// FunctionTarget: Names a function.
type FunctionTarget struct {
	// The name of an uploaded function. It may be uploaded later.
	Name string `json:"name"`
	// Ignored. Use `1`.
	Version string `json:"version,omitzero"`
	// Which of the function's uploads runs, one of those that are kept. Without it, it is the one that the function
	// runs.
	Upload int64 `json:"upload,omitzero"`
}

// PoolFilter: A ticket is in the pool when it passes all of the pool's filters.
type PoolFilter struct {
	// Required unless there is `count`.
	Attribute string `json:"attribute,omitzero"`
	// Filters on how many players the tickets have, instead of on an attribute. A ticket without `players` has one.
	// Backfill tickets pass. It has no segmentation.
	Count string `json:"count,omitzero"`
	// The lower bound, inclusive. Without one there is none.
	Min *float64 `json:"min,omitzero"`
	// The upper bound, exclusive; inclusive when it equals min. Without one there is none.
	Max          *float64      `json:"max,omitzero"`
	Segmentation *Segmentation `json:"segmentation,omitzero"`
}

// Segmentation: Splits the filter's range into ranges that do not intersect. Each is matched by itself.
type Segmentation struct {
	// How the attribute is distributed in the population.
	DistributionType    string `json:"DistributionType"`
	SegmentBehaviorType string `json:"SegmentBehaviorType"`
	// For `BucketCount` the number of the parts; for `TargetPercentage` the percentage that each is to have, of the
	// width (`Uniform`) or of the probability (`Normal`); for `BucketSize` the width of each (`Uniform`), or about how
	// many waiting tickets of the pool each is to have (`Normal`). Those are counted about once a second, and the
	// parts change when one would have less than half or more than one and a half times as many.
	Value int `json:"Value"`
	// The standard deviation; required for Normal.
	Stddev *float64 `json:"Stddev,omitzero"`
}

// Hosting: Where game servers come from. Without it matches get the connection that the function sets, if any.
type Hosting struct {
	// The hosting profile.
	Profile string `json:"Profile,omitzero"`
	// The access key of the hosting provider. It is encrypted at rest. In a PUT, `********` stands for the one that
	// the config has.
	Access string `json:"Access,omitzero"`
	// The secret key of the hosting provider. It is encrypted at rest and not told again: answers have `********` in
	// its place. In a PUT that stands for the one that the config has, so what GET answered can be changed and put
	// back. A PUT without it keeps the one that the config has, if `Access` is the same; an empty one removes it.
	Secret string `json:"Secret,omitzero"`
	// The fleet to allocate from.
	FleetID string `json:"FleetId,omitzero"`
	// An extension: what becomes of the tickets of a match that gets no server within the allocation's deadline. With
	// `Fail` their assignment has the error; with `Requeue` they wait again, as old as they are. What asking again
	// cannot change, as a hosting maximum of zero or a fleet that does not exist, is an error in either case.
	OnAllocationError string `json:"OnAllocationError,omitzero"`
}

// Validation: A fault of a config, or what may be one.
type Validation struct {
	ResultCode string `json:"ResultCode"`
	// The path of the member that has the fault, and the reason.
	Message string `json:"Message"`
}

// Function: A match function that was uploaded.
type Function struct {
	Name string `json:"name"`
	// MD5 of the uploaded file.
	MD5     string `json:"md5Hash"`
	Created string `json:"created"`
	// Equals `created` until the function is updated.
	Updated string         `json:"updated"`
	Status  FunctionStatus `json:"status"`
	// The upload that is to run.
	Upload int64 `json:"upload,omitzero"`
	// Of the others, the one whose runs succeeded last.
	LastGoodUpload int64           `json:"lastGoodUpload,omitzero"`
	Health         *FunctionHealth `json:"health,omitzero"`
	// Until then the function goes back to `lastGoodUpload` if runs fail that it passes.
	ReturnsUntil string `json:"returnsUntil,omitzero"`
	// The function goes back to no upload by itself.
	NoReturn    bool               `json:"noReturn,omitzero"`
	Returned    *FunctionReturn    `json:"returned,omitzero"`
	Shadow      *FunctionShadow    `json:"shadow,omitzero"`
	Canary      *FunctionCanary    `json:"canary,omitzero"`
	CanaryEnded *FunctionCanaryEnd `json:"canaryEnded,omitzero"`
}

// FunctionStatus: Whether a function can run.
type FunctionStatus struct {
	// `Unknown` when the state cannot be determined.
	State     string             `json:"state"`
	Instances []FunctionInstance `json:"instances"`
}

// FunctionInstance: A deployed copy of a function.
type FunctionInstance struct {
	State string `json:"state"`
	Name  string `json:"name"`
}

// FunctionReturn: The last time that the function went back by itself. The next upload removes it.
type FunctionReturn struct {
	Time string `json:"time"`
	From int64  `json:"from"`
	To   int64  `json:"to"`
	// Runs of `from` that failed.
	Failed int64 `json:"failed"`
	// All runs of `from`.
	Runs int64 `json:"runs"`
	// Failed runs that were repeated on `to`.
	Repeated int64 `json:"repeated"`
	// Those of them that did not fail there.
	Passed int64 `json:"passed"`
	// What one of the failed runs said.
	Error string `json:"error,omitzero"`
}

// FunctionShadow: The upload that runs in the shadow of the other one.
type FunctionShadow struct {
	Version int64           `json:"version"`
	Health  *FunctionHealth `json:"health,omitzero"`
	// Runs that both ended.
	Runs int64 `json:"runs"`
	// Runs that it did not get: it had had its share, or nothing was free.
	Skipped int64 `json:"skipped"`
	// Runs that it failed.
	Failed int64 `json:"failed"`
	// Runs that the other one failed.
	CurrentFailed int64 `json:"currentFailed"`
	// Runs that both did with the same tickets. The rest is of these.
	Compared int64 `json:"compared"`
	// Matches that it proposed.
	Matches int64 `json:"matches"`
	// Matches that the other one proposed.
	CurrentMatches int64 `json:"currentMatches"`
	// Matches of the same tickets.
	Common int64 `json:"common"`
	// The sum of the scores of its matches.
	Score float64 `json:"score"`
	// The same of the other one.
	CurrentScore float64 `json:"currentScore"`
}

// FunctionCanary: The upload that runs for a part of the configs, of the queues, or of the time.
type FunctionCanary struct {
	Version      int64    `json:"version"`
	Configs      []string `json:"configs,omitzero"`
	Queues       []string `json:"queues,omitzero"`
	BlockSeconds int64    `json:"blockSeconds,omitzero"`
	// Which part of the blocks it has.
	Percent int    `json:"percent,omitzero"`
	Began   string `json:"began"`
	// Since when these get it.
	Changed string `json:"changed"`
	// It ends then, unless it runs for all.
	Until string `json:"until"`
	// Runs of it since it began.
	Runs int64 `json:"runs"`
	// Those of them that failed.
	Failed int64           `json:"failed"`
	Health *FunctionHealth `json:"health,omitzero"`
	// Compares it with the other upload. Only the answer about one function has it.
	Report []CanaryQuantity `json:"report,omitzero"`
}

// CanaryQuantity: Compares a canary with the upload that runs for the others.
type CanaryQuantity struct {
	// `failures`, `matches`, `wait`, or `spread`, `gap` or `measure` with a name.
	Name string `json:"name"`
	// A share of the runs, matches a minute, seconds, or a mean.
	Canary float64 `json:"canary"`
	// The same of the other upload.
	Current float64 `json:"current"`
	// Of how many matches that is; of how many runs for `failures`.
	CanaryOf int64 `json:"canaryOf"`
	// The same of the other upload.
	CurrentOf  int64             `json:"currentOf"`
	Difference *CanaryDifference `json:"difference,omitzero"`
}

// CanaryDifference: How much more the canary has. It is absent while too little is known.
type CanaryDifference struct {
	Value float64 `json:"value"`
	// The difference lies between `low` and `high` with a confidence of 95 %.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// FunctionCanaryEnd: How the last canary ended. The next one removes it.
type FunctionCanaryEnd struct {
	Version int64  `json:"version"`
	Time    string `json:"time"`
	// It runs for all since.
	Promoted bool `json:"promoted"`
	// Text for people.
	Reason string `json:"reason"`
}

// FunctionHealth: How the runs of an upload went in the last five minutes. It is absent when there were none.
type FunctionHealth struct {
	// Runs that an instance was given. Those without tickets do not count.
	Runs int64 `json:"runs"`
	// Those of them that failed.
	Failed int64 `json:"failed"`
	// More runs, which got no instance since those of the upload fail.
	Unserved int64 `json:"unserved"`
	// The failed and unserved ones of all.
	FailedShare     float64    `json:"failedShare"`
	LastError       string     `json:"lastError,omitzero"`
	LastErrorTime   string     `json:"lastErrorTime,omitzero"`
	LastErrorConfig string     `json:"lastErrorConfig,omitzero"`
	Milliseconds    *Quantiles `json:"milliseconds,omitzero"`
	MemoryBytes     *Quantiles `json:"memoryBytes,omitzero"`
}

// Quantiles: Values that half of the runs do not exceed, and all but one of a hundred; too high by a fifth at most.
type Quantiles struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// FunctionList:
type FunctionList struct {
	Functions []Function `json:"functions"`
}

// FunctionLogs:
type FunctionLogs struct {
	// The log of each instance, by its name.
	Logs map[string]string `json:"logs"`
	// The same line by line, the earliest first.
	Lines []LogLine `json:"lines,omitzero"`
}

// LogLine: A line of a function's log.
type LogLine struct {
	Time   string `json:"time"`
	Upload int64  `json:"upload,omitzero"`
	// That of the run under way, or of the one before.
	Config   string `json:"config,omitzero"`
	Instance string `json:"instance"`
	Text     string `json:"text"`
}

// FunctionVersionList:
type FunctionVersionList struct {
	Versions []FunctionVersion `json:"versions"`
}

// FunctionVersion: An upload of a function that is kept.
type FunctionVersion struct {
	Version int64 `json:"version"`
	// This is the one that is to run.
	Current bool `json:"current"`
	// MD5 of the uploaded file.
	MD5 string `json:"md5Hash"`
	// The module of the archive; absent for an upload that was no archive.
	Implementation string `json:"implementation,omitzero"`
	// Of the module in bytes.
	Size     int64  `json:"size"`
	Uploaded string `json:"uploaded"`
	// The subject of the token.
	By   string `json:"by,omitzero"`
	Note string `json:"note,omitzero"`
	// Runs of it succeeded while it was the one that ran.
	Worked bool `json:"worked,omitzero"`
	// It runs in the shadow of the current one.
	Shadow bool `json:"shadow,omitzero"`
	// A part of the runs get it.
	Canary bool            `json:"canary,omitzero"`
	Health *FunctionHealth `json:"health,omitzero"`
}

// RestartResult:
type RestartResult struct {
	Functions []FunctionRestart `json:"functions"`
}

// FunctionRestart: Whether a function is restarted.
type FunctionRestart struct {
	Name  string `json:"name"`
	State string `json:"state"`
}

// GamePlayer: A player in a running game. In an answer, players who joined since the server named its players have no
// team and no role, and the attributes of their ticket.
type GamePlayer struct {
	// As the subject of the player's token, in up to 256 bytes.
	ID string `json:"id"`
	// Match functions see it.
	Team string `json:"team,omitzero"`
	// Match functions see it.
	Role string `json:"role,omitzero"`
	// Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other
	// limits. The service sets the attribute `created` itself.
	Attributes map[string]float64 `json:"attributes,omitzero"`
}

// CreatedBackfillTicket:
type CreatedBackfillTicket struct {
	ID string `json:"Id"`
}

// BackfillTicket: A running game that wants more players.
type BackfillTicket struct {
	ID string `json:"Id"`
	// When it was created, in Unix UTC milliseconds.
	Created int64 `json:"Created"`
	// Counts the changes of the server. The matchmaker maintains it, and changes by match functions do not count.
	RecordVersion int64 `json:"RecordVersion"`
	// The address of the server, `ip:port`. Null while the server is still being allocated.
	Connection *string `json:"Connection"`
	// Numbers that pools query. At most 64, with names of at most 128 bytes, unless the installation sets other
	// limits. The service sets the attribute `created` itself.
	Attributes map[string]float64 `json:"attributes"`
	// Values that only match functions understand, as canonical Base64 with padding. At most 64, with names of at most
	// 128 bytes, unless the installation sets other limits.
	Properties map[string][]byte `json:"properties"`
	// The name of a queue, up to 64 bytes without spaces and control characters.
	Queue string `json:"queue,omitzero"`
	// Who is in the game. It is left out until its server says it.
	Players []GamePlayer `json:"players,omitzero"`
	// Only in the answer to an approval. Tickets that joined the game: exactly those that this approval assigned, and
	// again those of the 20 seconds before it, so that a lost answer loses none. Left out when there are none. The
	// `properties` of their assignments are for the players alone and null here. Each has its `players`, also where
	// the owner is the only one.
	AssignedTickets []Ticket `json:"assignedTickets,omitempty"`
}

// BackfillV1Result: Who was found for a game.
type BackfillV1Result struct {
	AssignedTickets []Ticket `json:"assignedTickets"`
	// What the match function sets for the match.
	AssignmentProperties json.RawMessage `json:"assignmentProperties"`
	// Empty if none; `No Match Found` when there was no ticket.
	Error string `json:"error"`
}

// ServerToken: The token of a game server.
type ServerToken struct {
	// The token.
	Token string `json:"token"`
	// When it is good no more, in Unix UTC milliseconds.
	Expires int64 `json:"expires"`
}

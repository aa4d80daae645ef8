// Code generated from openapi.yaml. DO NOT EDIT.

package client

import (
	"context"
	"net/http"
	"net/url"
	"time"
)

// DeleteTicket: End matchmaking.
//
// Once this is answered 200 the ticket is never assigned. Its owner and each of its players may end it, for all.
func (c *Client) DeleteTicket(ctx context.Context, id string, onBehalfOf string) error {
	return c.call(ctx, plainCall{
		method: http.MethodDelete, path: "v1/tickets",
		query:      url.Values{"id": {id}},
		player:     onBehalfOf,
		repeatable: true,
		removes:    true,
	}, nil)
}

// MyParty: Read the player's party.
//
// It is found without its id, for instance after an answer was lost.
func (c *Client) MyParty(ctx context.Context, onBehalfOf string) (*Party, error) {
	return ask[Party](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/parties",
		player:     onBehalfOf,
		repeatable: true,
	})
}

// GetParty: Read a party.
//
// With its ETag in `If-None-Match` and `Prefer: wait`, the answer comes when the party has changed, or is 304. Each
// request of a member says that it is there: a member that is silent for long leaves. Developers read it without its
// code, and never wait: the answer, or 304, comes at once.
func (c *Client) GetParty(ctx context.Context, partyID string, onBehalfOf string) (*Party, error) {
	return ask[Party](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/parties/{partyId}",
		segments:   []string{partyID},
		player:     onBehalfOf,
		repeatable: true,
	})
}

// DisbandParty: End a party.
//
// Only the leader does. It stops the search.
func (c *Client) DisbandParty(ctx context.Context, partyID string, onBehalfOf string) error {
	return c.call(ctx, plainCall{
		method: http.MethodDelete, path: "v1/parties/{partyId}",
		segments:   []string{partyID},
		player:     onBehalfOf,
		repeatable: true,
		removes:    true,
	}, nil)
}

// SetPartyLeader: Make another member the leader.
//
// Only the leader does.
func (c *Client) SetPartyLeader(ctx context.Context, partyID string, player string, onBehalfOf string) (*Party, error) {
	return ask[Party](ctx, c, plainCall{
		method: http.MethodPut, path: "v1/parties/{partyId}/leader",
		segments:   []string{partyID},
		body:       map[string]any{"player": player},
		player:     onBehalfOf,
		repeatable: true,
	})
}

// RenewPartyCode: Give the party another code.
//
// Only the leader does. Nobody joins with the code before.
func (c *Client) RenewPartyCode(ctx context.Context, partyID string, onBehalfOf string) (*Party, error) {
	return ask[Party](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/parties/{partyId}/code",
		segments:   []string{partyID},
		player:     onBehalfOf,
		repeatable: true,
	})
}

// StopPartySearch: Stop the search.
//
// Only the leader does. The ticket is deleted, unless it has a result.
func (c *Client) StopPartySearch(ctx context.Context, partyID string, onBehalfOf string) (*Party, error) {
	return ask[Party](ctx, c, plainCall{
		method: http.MethodDelete, path: "v1/parties/{partyId}/search",
		segments:   []string{partyID},
		player:     onBehalfOf,
		repeatable: true,
	})
}

// CaptureRun: Run a function that gets a ticket, and get the run as a file.
//
// `mm function test --capture` repeats the run. The file has what the function gets of all tickets of its pools, their
// properties too. Nothing is claimed. It counts as an explanation. 409 says that the function does not get the ticket.
// The role Support needs `support.properties` in the project's settings.
func (c *Client) CaptureRun(ctx context.Context, ticketID string, config string) (file []byte, err error) {
	err = c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/tickets/{ticketId}/explanation/capture",
		segments:   []string{ticketID},
		query:      url.Values{"config": {config}},
		repeatable: true,
	}, &file)
	return file, err
}

// ExplainTicket: Explain to the studio why a ticket waits.
//
// For each config: whether it serves the ticket's queues, which filters of its pools hold for the ticket, and by how
// much others do not. The functions that get the ticket are run once, and asked why it is in no match; at most 8 runs
// of at most 2 seconds each. Nothing is claimed. A project may ask once a second, and 20 times at once; the runs may
// take a tenth of a processor.
func (c *Client) ExplainTicket(ctx context.Context, ticketID string) (*TicketExplanation, error) {
	return ask[TicketExplanation](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/tickets/{ticketId}/explanation",
		segments:   []string{ticketID},
		repeatable: true,
	})
}

// ListQueues: List the queues.
//
// All queues that a config serves or in which tickets wait, by name, and how many wait in each. Of more than 256,
// those are left out that no config serves and where the fewest tickets wait. It is from the index of a runner, and a
// second old at most: all requests get the same answer. It counts as a list of tickets that wait, and is refused as
// such.
func (c *Client) ListQueues(ctx context.Context) (*QueueList, error) {
	return ask[QueueList](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/queues",
		repeatable: true,
	})
}

// MatchQuery is what [Client.ListMatches] may be asked for. A field that is zero is left out of the request.
type MatchQuery struct {
	// Only matches in this state: asking, claimed, allocating, proposed or assigned.
	State string
	// Only matches of this config.
	Config string
	// Only matches of configs that serve this queue.
	Queue string
	// Only matches in this region.
	Region string
	// Only matches of this fleet.
	Fleet string
	// How long ago they were made at least.
	MinAge time.Duration
	// How long ago they were made at most.
	MaxAge time.Duration
	// How many a page has at most, up to 200; 50 if absent.
	Limit int
	// `next` of an earlier answer.
	After string
}

// ListMatches: List the matches that run.
//
// As far as the service knows: matches that begin, then those that go to a running game, then those that have a
// server, the one last heard of first. A match with a server is listed until its result, or until its server's token
// has ended. Matches without hosting end when they are made, and are not listed. A page looks at about 1,000 matches:
// it may have fewer than `limit`, or none, and `next`. The token must be a developer's; the role Support is enough.
func (c *Client) ListMatches(ctx context.Context, q MatchQuery) (*MatchPage, error) {
	return ask[MatchPage](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/matches",
		query: parameters(map[string]any{
			"state":  q.State,
			"config": q.Config,
			"queue":  q.Queue,
			"region": q.Region,
			"fleet":  q.Fleet,
			"minAge": q.MinAge,
			"maxAge": q.MaxAge,
			"limit":  q.Limit,
			"after":  q.After,
		}),
		repeatable: true,
	})
}

// MatchReportQuery is what [Client.ReportMatches] may be asked for. A field that is zero is left out of the request.
type MatchReportQuery struct {
	// An hour before `until` if absent; the slot counts that it is in.
	Since time.Time
	// Now if absent.
	Until time.Time
	// By what the rows are divided: config, revision, function, upload, queue, region, party, decile (with neither
	// region nor party) or slot; one row if absent.
	By []string
	// Only matches of this config.
	Config string
	// Only matches of revisions of configs from this one on.
	MinRevision int64
	// Only matches of revisions of configs up to this one.
	MaxRevision int64
}

// ReportMatches: Read how good the matches of a time were.
//
// How many matches were made, how long their tickets waited, how far those attributes differ in them that `report` of
// the config names, what functions measured, and whether the odds of ratings came true. It lacks the last few seconds,
// and slots of an hour or a day the last minute. Quantiles are right to within a tenth. Of configs without `report`
// the sizes of parties are known only where each ticket has one player. The token must be a developer's; the role
// Support is enough.
func (c *Client) ReportMatches(ctx context.Context, q MatchReportQuery) (*MatchReport, error) {
	return ask[MatchReport](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/matches/report",
		query: parameters(map[string]any{
			"since":       q.Since,
			"until":       q.Until,
			"by":          q.By,
			"config":      q.Config,
			"minRevision": q.MinRevision,
			"maxRevision": q.MaxRevision,
		}),
		repeatable: true,
	})
}

// GetMatch: Read what became of a match.
//
// From its events, so it is known as long as events are kept, which is a day unless the installation says otherwise,
// and from a second after it was made at the latest. The players of a ticket are known while the ticket is, and the
// connection of the server while results can be read: ten minutes by default. Fleet, profile and region are known as
// long as the server renews its token. 503 says that more happened at that time than may be looked at at once.
func (c *Client) GetMatch(ctx context.Context, matchID string) (*Match, error) {
	return ask[Match](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/matches/{matchId}",
		segments:   []string{matchID},
		repeatable: true,
	})
}

// ReportResult: Report the result of a match.
//
// An extension. Its game server does it with the token that it got with its allocation, which is good for its own
// match alone, or a game service with the scope `matchmaking`. The match's config must have `result`.
//
// The same result may be sent again: it counts once. Another one within a day of the first replaces it, and the
// ratings are computed anew. The result counts for the project's ratings of the config's queue if two teams or more
// have players; a team without any is not rated.
//
// A team without `players` has those of the match's team of its `name`. All teams that have any name their players, or
// none does. A player who is not named did not play. Where the match has teams, as many are to be named here, also one
// that all players left before the game began.
func (c *Client) ReportResult(ctx context.Context, matchID string, teams ...ReportedTeam) (*MatchResult, error) {
	return ask[MatchResult](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/matches/{matchId}/result",
		segments:   []string{matchID},
		body:       map[string]any{"teams": teams},
		repeatable: true,
	})
}

// ListConfigs: List the configs of the project.
func (c *Client) ListConfigs(ctx context.Context) ([]ListedConfig, error) {
	var answer struct {
		List []ListedConfig `json:"configs"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/configs",
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// DeleteConfig: Delete a config.
//
// Once this is answered no match of the config is made. Deleting what is not there is answered the same, but for 409
// when the identifier exists with another letter case or Unicode normal form.
func (c *Client) DeleteConfig(ctx context.Context, configID string) error {
	return c.call(ctx, plainCall{
		method: http.MethodDelete, path: "v1/configs/{configId}",
		segments:   []string{configID},
		repeatable: true,
		removes:    true,
	}, nil)
}

// ConfigHistory: Read who changed a config and when.
//
// The last 32 changes of the config, each for as long as the service keeps it after the next one (30 days by default).
// A config that was deleted has a history too.
func (c *Client) ConfigHistory(ctx context.Context, configID string) ([]ConfigChange, error) {
	var answer struct {
		List []ConfigChange `json:"changes"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/configs/{configId}/history",
		segments:   []string{configID},
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// StartSimulation: Try a config on the last hour.
//
// Plays the config that is there, and the one of the body instead of it, over the tickets that came to their queue
// within the last hour, in virtual time. The config is not put, and no player notices. Up to 7 other configs of the
// queue play too. Every match has a server, and all players accept it, at once; there are no running games. Tickets
// that left leave after the same time, all others wait. Runners know the tickets, without players, since they began to
// host the project: of a large project the latest.
//
// A project has 2 at a time in each process of the config service, and they may compute for 2 minutes in 10: more are
// answered 429. One counts as a second at least, and half the time that it took if it fails. A function that cannot be
// started, or fails, ends it. It ends as well if it is not read for half a minute. It is kept for an hour after it
// ended. Its queue is the one of the present config. Faults name members of `config`. The role Support needs
// `support.properties` in the settings of the project.
func (c *Client) StartSimulation(ctx context.Context, body StartSimulation) (*Simulation, error) {
	return ask[Simulation](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/simulations",
		body:       body,
		repeatable: true,
	})
}

// GetSimulation: Read how far a simulation is, and its result.
func (c *Client) GetSimulation(ctx context.Context, simulationID string) (*Simulation, error) {
	return ask[Simulation](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/simulations/{simulationId}",
		segments:   []string{simulationID},
		repeatable: true,
	})
}

// ErasePlayer: Erase what is stored of a player.
//
// Tickets end as by a DELETE of the player, who also leaves the party. Others can still read results that they share
// with the player, who is taken out of them. The answer names what remains, and until when at most. It may be
// repeated; a player of whom nothing is stored is answered the same. The token is as for GET.
func (c *Client) ErasePlayer(ctx context.Context, playerID string) (*ErasedPlayer, error) {
	return ask[ErasedPlayer](ctx, c, plainCall{
		method: http.MethodDelete, path: "v1/players/{playerId}",
		segments:   []string{playerID},
		repeatable: true,
	})
}

// RunningMatch: Find the match that a player plays.
//
// An extension. The match of the player that has no result yet: its connection, and a new seat pass if its config has
// `seats`. A player's token asks for the player itself. It is 404 when there is none, when the result did not come in
// time, and when the match's server renews its token no more. The match's config must have `result`.
func (c *Client) RunningMatch(ctx context.Context, playerID string) (*RunningMatch, error) {
	return ask[RunningMatch](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/players/{playerId}/match",
		segments:   []string{playerID},
		repeatable: true,
	})
}

// PlayerRatings: Read a player's ratings.
//
// An extension. What the results of the player's matches give, as it is worth now. A player's token asks for the
// player itself.
func (c *Client) PlayerRatings(ctx context.Context, playerID string) ([]PlayerRating, error) {
	var answer struct {
		List []PlayerRating `json:"ratings"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/players/{playerId}/ratings",
		segments:   []string{playerID},
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// RatingHistory: Read what matches did to a player's ratings.
//
// An extension. The changes of the player's last 32 matches that changed a rating, the latest first. A player's token
// asks for the player itself.
func (c *Client) RatingHistory(ctx context.Context, playerID string) ([]RatingStep, error) {
	var answer struct {
		List []RatingStep `json:"changes"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/players/{playerId}/ratings/history",
		segments:   []string{playerID},
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// LeaderboardQuery is what [Client.Leaderboard] may be asked for. A field that is zero is left out of the request.
type LeaderboardQuery struct {
	// An earlier season; the rating's own if absent.
	Season string
	// How many players a page has at most, up to 200; 50 if absent.
	Limit int
	// Only players behind this rank, such as `next` of an earlier answer.
	After int
}

// Leaderboard: Read the best players of a season.
//
// An extension. It names players: a player's token reads it where the rating is `public`, a game service's with the
// scope `matchmaking` or `matchmaking.read`, a developer's in any role.
func (c *Client) Leaderboard(ctx context.Context, ratingName string, q LeaderboardQuery) (*Leaderboard, error) {
	return ask[Leaderboard](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/ratings/{ratingName}/leaderboard",
		segments: []string{ratingName},
		query: parameters(map[string]any{
			"season": q.Season,
			"limit":  q.Limit,
			"after":  q.After,
		}),
		repeatable: true,
	})
}

// PlayerStanding: Read a player's standing.
//
// An extension. What the project keeps of the player and puts into the player's tickets.
func (c *Client) PlayerStanding(ctx context.Context, playerID string) (*Standing, error) {
	return ask[Standing](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/players/{playerId}/standing",
		segments:   []string{playerID},
		repeatable: true,
	})
}

// SetStanding: Set numbers of a player's standing.
//
// An extension. The numbers that are named are set, others stay. The project's settings name those that there are. A
// service token has the scope `matchmaking`.
func (c *Client) SetStanding(ctx context.Context, playerID string, numbers map[string]float64) (*Standing, error) {
	return ask[Standing](ctx, c, plainCall{
		method: http.MethodPut, path: "v1/players/{playerId}/standing",
		segments:   []string{playerID},
		body:       map[string]any{"numbers": numbers},
		repeatable: true,
	})
}

// ChangeQuery is what [Client.ListChanges] may be asked for. A field that is zero is left out of the request.
type ChangeQuery struct {
	// Only changes of this kind: config, settings, function, player (an erasure) or key (of game servers' tokens).
	Kind string
	// Only changes of the config, function or key of this name.
	Name string
	// Only changes by this subject.
	By string
	// How many a page has at most, up to 200; 50 if absent.
	Limit int
	// `next` of an earlier answer.
	After string
}

// ListChanges: Read who changed what.
//
// The latest changes of configs, settings, functions and the key of game servers' tokens, and erasures of players, the
// newest first: up to 1,000, of 90 days. An erasure does not name the player. A key is noted when a server of the
// project gets a token of another key than the last one that is noted. The token must be a developer's; the role
// Support is enough.
func (c *Client) ListChanges(ctx context.Context, q ChangeQuery) (*ChangePage, error) {
	return ask[ChangePage](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/changes",
		query: parameters(map[string]any{
			"kind":  q.Kind,
			"name":  q.Name,
			"by":    q.By,
			"limit": q.Limit,
			"after": q.After,
		}),
		repeatable: true,
	})
}

// ListWebhooks: List the webhooks, and how the delivery to each is.
//
// The settings of the project say which there are.
func (c *Client) ListWebhooks(ctx context.Context) ([]WebhookStatus, error) {
	var answer struct {
		List []WebhookStatus `json:"webhooks"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/webhooks",
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// ListDeadLetters: List the events that a webhook did not take.
//
// The oldest first. The newest 256 are kept, and 512 KiB of them.
func (c *Client) ListDeadLetters(ctx context.Context, webhook string) ([]DeadLetter, error) {
	var answer struct {
		List []DeadLetter `json:"deadLetters"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/webhooks/{webhook}/deadletters",
		segments:   []string{webhook},
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// DeleteDeadLetter: Delete a dead letter.
func (c *Client) DeleteDeadLetter(ctx context.Context, webhook string, letter string) error {
	return c.call(ctx, plainCall{
		method: http.MethodDelete, path: "v1/webhooks/{webhook}/deadletters/{letter}",
		segments:   []string{webhook, letter},
		repeatable: true,
		removes:    true,
	}, nil)
}

// SendDeadLetter: Send a dead letter again.
//
// It is sent once, now, and is deleted if the webhook takes it.
func (c *Client) SendDeadLetter(ctx context.Context, webhook string, letter string) (*SentLetter, error) {
	return ask[SentLetter](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/webhooks/{webhook}/deadletters/{letter}/actions/send",
		segments: []string{webhook, letter},
	})
}

// ListRegions: List the regions whose latency can be measured.
func (c *Client) ListRegions(ctx context.Context) (*Regions, error) {
	return ask[Regions](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/regions",
		repeatable: true,
	})
}

// SettingsHistory: Read the latest changes of the settings.
func (c *Client) SettingsHistory(ctx context.Context) ([]SettingsChange, error) {
	var answer struct {
		List []SettingsChange `json:"changes"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/settings/history",
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// ListFunctions: List the functions that are deployed.
func (c *Client) ListFunctions(ctx context.Context) ([]Function, error) {
	var answer struct {
		List []Function `json:"functions"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/functions",
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// GetFunction: Read a function.
func (c *Client) GetFunction(ctx context.Context, functionName string) (*Function, error) {
	return ask[Function](ctx, c, plainCall{
		method: http.MethodGet, path: "v1/functions/{functionName}",
		segments:   []string{functionName},
		repeatable: true,
	})
}

// DeleteFunction: Delete a function.
//
// Deleting what is not there is answered the same.
func (c *Client) DeleteFunction(ctx context.Context, functionName string) error {
	return c.call(ctx, plainCall{
		method: http.MethodDelete, path: "v1/functions/{functionName}",
		segments:   []string{functionName},
		repeatable: true,
		removes:    true,
	}, nil)
}

// GetFunctionVersions: List the uploads of a function that are kept.
//
// The service keeps the last uploads of a function (5 by default), to go back to. Each has a number, counted from 1.
// An upload of the very file that is to run already is no new version. Deleting a function deletes its versions.
func (c *Client) GetFunctionVersions(ctx context.Context, functionName string) ([]FunctionVersion, error) {
	var answer struct {
		List []FunctionVersion `json:"versions"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodGet, path: "v1/functions/{functionName}/versions",
		segments:   []string{functionName},
		repeatable: true,
	}, &answer)
	return answer.List, err
}

// RollbackFunction: Go back to an earlier upload of a function.
//
// Makes a version that is kept the one that runs, in the way of an upload: its module is checked again, and the
// version before goes on until it runs. All versions stay, so that one can go forward again. Going to the current
// version changes nothing.
func (c *Client) RollbackFunction(ctx context.Context, functionName string, version int64) (*Function, error) {
	return ask[Function](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/functions/{functionName}/actions/rollback",
		segments: []string{functionName},
		body:     map[string]any{"version": version},
	})
}

// ShadowFunction: Let an upload run in the shadow.
//
// Lets a version that is kept run in the shadow of the one that runs, or none for the version 0. It gets the same
// runs, as far as there is room. What it proposes is compared, see `shadow` of the function, and matches no ticket.
func (c *Client) ShadowFunction(ctx context.Context, functionName string, version int64) (*Function, error) {
	return ask[Function](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/functions/{functionName}/actions/shadow",
		segments: []string{functionName},
		body:     map[string]any{"version": version},
	})
}

// CanaryFunction: Let an upload run for a part of the configs, or of the time.
//
// A version that is kept runs for some configs or queues, or in some blocks of time, until it is promoted or ended, or
// until its deadline. It ends by itself if its runs fail and the other upload passes them. For the version that is the
// canary already, the request changes its configs, queues or blocks, and the deadline; with the version 0, the canary
// ends. When another version is the canary, or no config could get it, the answer is 409.
func (c *Client) CanaryFunction(ctx context.Context, functionName string, body CanaryRequest) (*Function, error) {
	return ask[Function](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/functions/{functionName}/actions/canary",
		segments: []string{functionName},
		body:     body,
	})
}

// PromoteFunction: Let the upload in the shadow, or the canary, be the one that runs.
//
// The version in the shadow, or the canary, is the one that runs from now on, in the way of an upload. When another
// one is, or none, the answer is 409.
func (c *Client) PromoteFunction(ctx context.Context, functionName string, version int64) (*Function, error) {
	return ask[Function](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/functions/{functionName}/actions/promote",
		segments: []string{functionName},
		body:     map[string]any{"version": version},
	})
}

// SetFunctionReturn: Say whether a function goes back by itself.
//
// For a while after an upload, a function goes back to the last upload that worked, when runs of the new one fail that
// the other one passes. This switches that off, or on from the next upload.
func (c *Client) SetFunctionReturn(ctx context.Context, functionName string, automatic bool) (*Function, error) {
	return ask[Function](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/functions/{functionName}/actions/return",
		segments: []string{functionName},
		body:     map[string]any{"automatic": automatic},
	})
}

// RestartFunctions: Restart functions.
//
// Schedules a restart of functions. When one of them is unknown the answer is 404 and none is restarted.
func (c *Client) RestartFunctions(ctx context.Context, functions ...string) ([]FunctionRestart, error) {
	var answer struct {
		List []FunctionRestart `json:"functions"`
	}
	err := c.call(ctx, plainCall{
		method: http.MethodPost, path: "v1/functions/actions/restart",
		body: map[string]any{"functions": functions},
	}, &answer)
	return answer.List, err
}

// BackfillQuery is what [Client.ListBackfills] may be asked for. A field that is zero is left out of the request.
type BackfillQuery struct {
	// Only the backfill ticket of this id; `after` and `limit` count only without it.
	ID string
	// Only games whose players come from this queue.
	Queue string
	// How many a page has at most, up to 200; 50 if absent.
	Limit int
	// `next` of an earlier answer.
	After string
}

// ListBackfills: List the games that fill up.
//
// The backfill tickets of the project, the one whose server called last first, for its developers. Properties are left
// out. A page looks at about 1,000: it may have fewer than `limit`, or none, and `next`. The token must be a
// developer's; the role Support is enough.
func (c *Client) ListBackfills(ctx context.Context, q BackfillQuery) (*BackfillPage, error) {
	return ask[BackfillPage](ctx, c, plainCall{
		method: http.MethodGet, path: "v2/backfill",
		query: parameters(map[string]any{
			"id":    q.ID,
			"queue": q.Queue,
			"limit": q.Limit,
			"after": q.After,
		}),
		repeatable: true,
	})
}

// ApproveBackfill: Approve the tickets that were proposed.
//
// Assigns all tickets that are proposed for the backfill ticket at this moment. A server calls this periodically while
// it fills; once a second is enough, and what is far above is answered 429. Tickets that are not approved in time (20
// s by default) go back to the pool, and the server gets no more until its next request. The answer names the tickets
// that join.
func (c *Client) ApproveBackfill(ctx context.Context, backfillID string) (*BackfillTicket, error) {
	return ask[BackfillTicket](ctx, c, plainCall{
		method: http.MethodPost, path: "v2/backfill/{backfillId}/approvals",
		segments:   []string{backfillID},
		repeatable: true,
	})
}

// BackfillV1: Ask for players once.
//
// The first generation of backfill. Use backfill tickets instead. Every answer says so in the headers `Deprecation`,
// `Link` and, where its end is known, `Sunset`.
//
// Runs the function once over the pools, and assigns the tickets of the best match that it proposes to the connection.
// A function that fails is answered with the error `No Match Found`, one that there is not with 400.
func (c *Client) BackfillV1(ctx context.Context, body BackfillV1Request) (*BackfillV1Result, error) {
	return ask[BackfillV1Result](ctx, c, plainCall{
		method: http.MethodPost, path: "v1/backfill",
		body: body,
	})
}

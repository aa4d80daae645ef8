package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"time"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/platform/wait"
	"matchmaker.dev/services/test/chaos/history"
)

// Referee reports the results of matches, as their servers do, and reads what players have of them.
type Referee struct {
	Clients
	Random *rand.Rand
	// Servers are clients with tokens of game servers.
	Servers func() *client.Client
	// Readers is how many players are read in the end, of the earliest reports first; 0 for all.
	Readers int

	under sync.WaitGroup
	mu    sync.Mutex
}

// reportTime is how long a server repeats a report, and sentAtOnce how often it sends the report at the same time.
const (
	reportTime = 30 * time.Second
	sentAtOnce = 5
)

// startMean is the mean of the rating of players without a match.
const startMean = 25.0

// Counted are settings of a project whose results count.
func Counted() client.ProjectSettings {
	mean := startMean
	return client.ProjectSettings{
		Standing: &client.StandingRules{Left: true, Recent: 3},
		Ratings:  map[string]client.RatingRule{"skill": {Model: "plackettLuce", Mean: &mean}},
	}
}

// Report reports the result of a match of so many teams after some time. Of some matches it reports other ones then,
// which name a player who left.
func (a *Referee) Report(ctx context.Context, match string, teams int, after time.Duration) {
	a.mu.Lock()
	ranks := make([]int, max(1, a.Random.IntN(5)-1)*teams) // of one to three results
	for i := range ranks {
		ranks[i] = 1 + a.Random.IntN(teams)
	}
	a.mu.Unlock()
	a.under.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, reportTime+after)
		defer cancel()
		if wait.For(ctx, after) != nil {
			return
		}
		c := history.Call{Op: history.Report, Project: a.Project, Match: match}
		reported := make([]client.ReportedTeam, teams)
		for i, rank := range ranks {
			reported[i%teams].Rank = rank
			if i%teams < teams-1 {
				continue
			}
			c.Key = fmt.Sprint(i)
			if reported = a.send(ctx, c, reported); reported == nil {
				return
			}
			first := &reported[0].Players[0]
			first.Left, c.Leavers = new(60.0), []string{first.ID}
		}
	})
}

// send sends a result several times at once, each until it is answered. It returns the teams of an answer; nil if there
// is none, or the server could not name its players: one has no name any more, or a team has none.
func (a *Referee) send(ctx context.Context, c history.Call, reported []client.ReportedTeam) []client.ReportedTeam {
	answers := make(chan *client.MatchResult)
	for range sentAtOnce {
		go func() {
			answer := a.report(ctx, c, reported)
			for answer == nil && wait.For(ctx, 4*retryPause) == nil {
				answer = a.report(ctx, c, reported)
			}
			answers <- answer
		}()
	}
	var teams []client.ReportedTeam
	for range sentAtOnce {
		if answer := <-answers; answer != nil {
			teams = answer.Teams
		}
	}
	for _, t := range teams {
		if len(t.Players) == 0 || slices.ContainsFunc(t.Players, func(p client.ReportedPlayer) bool { return p.ID == "" }) {
			return nil
		}
	}
	return teams
}

func (a *Referee) report(ctx context.Context, c history.Call, teams []client.ReportedTeam) *client.MatchResult {
	one, cancel := a.limit(context.WithoutCancel(ctx), "server of "+c.Match)
	defer cancel()
	c.From = history.Now()
	result, err := a.Servers().ReportResult(one, c.Match, teams...)
	c.To = history.Now()
	if c.Status, c.Error = Answer(err, http.StatusOK); err == nil {
		c.Moved = map[string]float64{}
		for _, r := range result.Ratings {
			c.Moved[r.Player] = r.Mean - r.Before
		}
		for _, team := range result.Teams {
			for _, p := range team.Players {
				c.Players = append(c.Players, p.ID)
			}
		}
	}
	a.Journal.Call(c)
	return result
}

// read reads what the players have of their results that answers to reports named, once no report is under way.
func (a *Referee) read(ctx context.Context) {
	a.under.Wait()
	seen := map[string]bool{}
	for _, reported := range a.Journal.SoFar().Calls {
		if reported.Op != history.Report || reported.Project != a.Project {
			continue
		}
		for _, player := range reported.Players {
			if player == "" || seen[player] || a.Readers > 0 && len(seen) == a.Readers {
				continue
			}
			seen[player] = true
			for !a.readPlayer(ctx, player) && wait.For(ctx, RetryAfter(a.Random)) == nil {
			}
		}
	}
}

// readPlayer returns false if that failed.
func (a *Referee) readPlayer(ctx context.Context, player string) bool {
	ctx, cancel := a.limit(ctx, player)
	defer cancel()
	c := history.Call{Op: history.Standing, Project: a.Project, Player: player}
	c.From = history.Now()
	standing, err := a.Tickets().PlayerStanding(ctx, player)
	if err == nil {
		c.Games, c.Left = standing.Games, standing.Left
		var ratings []client.PlayerRating
		ratings, err = a.Tickets().PlayerRatings(ctx, player)
		for _, r := range ratings {
			c.Moved = map[string]float64{player: r.Mean - startMean}
		}
	}
	c.To = history.Now()
	c.Status, c.Error = Answer(err, http.StatusOK)
	a.Journal.Call(c)
	return err == nil
}

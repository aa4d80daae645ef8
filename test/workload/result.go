package workload

import (
	"context"
	"math/rand/v2"
	"net/http"
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

	under sync.WaitGroup
	mu    sync.Mutex
}

// reportTime is how long a server repeats a report, and sentAtOnce how often it sends the report at the same time.
const (
	reportTime = 30 * time.Second
	sentAtOnce = 3
)

// Report reports the result of a match of so many teams after some time: the same several times at once, each until it
// is answered.
func (a *Referee) Report(ctx context.Context, match string, teams int, after time.Duration) {
	reported := make([]client.ReportedTeam, teams)
	a.mu.Lock()
	for i := range reported {
		reported[i].Rank = 1 + a.Random.IntN(teams)
	}
	a.mu.Unlock()
	a.under.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, reportTime+after)
		defer cancel()
		if wait.For(ctx, after) != nil {
			return
		}
		var sent sync.WaitGroup
		for range sentAtOnce {
			sent.Go(func() {
				for a.report(ctx, match, reported) != http.StatusOK && wait.For(ctx, 4*retryPause) == nil {
				}
			})
		}
		sent.Wait()
	})
}

func (a *Referee) report(ctx context.Context, match string, teams []client.ReportedTeam) (status int) {
	one, cancel := a.limit(context.WithoutCancel(ctx), "server of "+match)
	defer cancel()
	c := history.Call{Op: history.Report, Project: a.Project, Match: match}
	c.From = history.Now()
	result, err := a.Servers().ReportResult(one, match, teams...)
	c.To = history.Now()
	c.Status, c.Error = Answer(err, http.StatusOK)
	if result != nil {
		for _, team := range result.Teams {
			for _, p := range team.Players {
				c.Players = append(c.Players, p.ID)
			}
		}
	}
	a.Journal.Call(c)
	return c.Status
}

// Read reads how many results the players have that answers to reports named, once no report is under way.
func (a *Referee) Read(ctx context.Context) {
	a.under.Wait()
	read := map[string]bool{}
	for _, reported := range a.Journal.SoFar().Calls {
		if reported.Op != history.Report || reported.Project != a.Project {
			continue
		}
		for _, player := range reported.Players {
			for player != "" && !read[player] && ctx.Err() == nil {
				c := history.Call{Op: history.Standing, Project: a.Project, Player: player}
				c.From = history.Now()
				standing, err := a.Tickets().PlayerStanding(ctx, player)
				c.To = history.Now()
				if c.Status, c.Error = Answer(err, http.StatusOK); err == nil {
					c.Games, read[player] = standing.Games, true
				}
				a.Journal.Call(c)
				if err != nil {
					_ = wait.For(ctx, RetryAfter(a.Random))
				}
			}
		}
	}
}

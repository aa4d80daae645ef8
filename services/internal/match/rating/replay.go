package rating

import (
	"fmt"
	"time"
)

// Result is how a match ended.
type Result struct {
	Time  time.Time    `json:"time"`
	Teams []ResultTeam `json:"teams"`
}

// ResultTeam is one of its teams: its players, and its place or its score, or both. The least rank and the highest
// score are the best.
type ResultTeam struct {
	Players []string `json:"players"`
	Rank    *int     `json:"rank"`
	Score   *float64 `json:"score"`
}

// Limits of a result.
const (
	MostTeams   = 100
	MostPlayers = 1000 // in all teams
)

// Check says what is wrong with a result.
func (r *Result) Check() error {
	if r.Time.IsZero() {
		return fmt.Errorf("time: it is missing")
	}
	if n := len(r.Teams); n < 2 || n > MostTeams {
		return fmt.Errorf("teams: there are %d, and must be 2 to %d", n, MostTeams)
	}
	seen := map[string]bool{}
	for i, t := range r.Teams {
		switch first := &r.Teams[0]; {
		case t.Rank == nil && t.Score == nil:
			return fmt.Errorf("teams[%d]: it has neither rank nor score", i)
		case (t.Rank == nil) != (first.Rank == nil):
			return fmt.Errorf("teams[%d].rank: all teams have a rank, or none has", i)
		case (t.Score == nil) != (first.Score == nil):
			return fmt.Errorf("teams[%d].score: all teams have a score, or none has", i)
		case len(t.Players) == 0:
			return fmt.Errorf("teams[%d].players: there are none", i)
		}
		for j, p := range t.Players {
			if p == "" {
				return fmt.Errorf("teams[%d].players[%d]: it is empty", i, j)
			}
			if seen[p] {
				return fmt.Errorf("teams[%d].players[%d]: this player is in the match twice", i, j)
			}
			if seen[p] = true; len(seen) > MostPlayers {
				return fmt.Errorf("teams: they have more than %d players", MostPlayers)
			}
		}
	}
	return nil
}

// teams are the result's teams with ratings.
func (r *Result) teams(of func(player string) Rating) []Team {
	teams := make([]Team, len(r.Teams))
	for i, t := range r.Teams {
		if t.Score != nil {
			teams[i].Score = *t.Score
		}
		if t.Rank != nil {
			teams[i].Rank = *t.Rank
		} else { // how many did better
			for _, other := range r.Teams {
				if *other.Score > *t.Score {
					teams[i].Rank++
				}
			}
		}
		for _, p := range t.Players {
			teams[i].Players = append(teams[i].Players, of(p))
		}
	}
	return teams
}

// Replay rates the players of results one after another, and judges the odds that the model gave before each.
type Replay struct {
	settings Settings
	model    Model
	players  map[string]*record
	// games is how many matches each player of a match must have had before its odds are judged.
	games int
	last  time.Time
	// losses has the loss of each match that was judged, in order.
	losses []float64
	judged Judged
}

// record is what a replay knows of a player.
type record struct {
	rating Rating
	games  int
	last   time.Time
}

// period is the time in whose units players rest.
const period = 24 * time.Hour

// NewReplay begins a replay that judges a match when all its players had at least games matches before.
func NewReplay(s Settings, games int) (*Replay, error) {
	model, err := New(s)
	if err != nil {
		return nil, err
	}
	return &Replay{settings: s, model: model, players: map[string]*record{}, games: games}, nil
}

// Add adds the next result, which was checked and is not older than the last one.
func (p *Replay) Add(r *Result) error {
	if r.Time.Before(p.last) {
		return fmt.Errorf("time: %s is before that of the result before it", r.Time.Format(time.RFC3339))
	}
	p.last = r.Time
	judged := true
	teams := r.teams(func(player string) Rating {
		known := p.players[player]
		if known == nil {
			known = &record{rating: p.settings.Start(), last: r.Time}
			p.players[player] = known
		}
		known.rating = p.model.Rest(known.rating, float64(r.Time.Sub(known.last))/float64(period))
		known.last = r.Time
		judged = judged && known.games >= p.games
		return known.rating
	})
	if judged {
		one := Judge(p.model, teams)
		p.losses = append(p.losses, one.Loss/one.Sum().Pairs)
		p.judged.Add(&one)
	}
	for i, team := range p.model.Rate(teams) {
		for j, after := range team {
			known := p.players[r.Teams[i].Players[j]]
			known.rating, known.games = after, known.games+1
		}
	}
	return nil
}

// Verdict says how good the odds of a replay were.
type Verdict struct {
	// Matches is how many were judged.
	Matches int `json:"matches"`
	// LogLoss is the mean of the negative logarithm of the odds of what came; 0.693 without any knowledge.
	LogLoss float64 `json:"logLoss"`
	// Brier is the mean of the square of how far the odds were from what came; 0.25 without any knowledge.
	Brier float64 `json:"brier"`
	// FavoriteWon is the share of pairs of teams that the favorite won.
	FavoriteWon float64 `json:"favoriteWon"`
	// Calibration has the buckets that any pair was in, from even odds upwards, with their means.
	Calibration []Bucket `json:"calibration"`
}

// Verdict returns the verdict on what was added so far; its numbers are 0 when no match was judged.
func (p *Replay) Verdict() Verdict {
	v := Verdict{Matches: len(p.losses)}
	if v.Matches == 0 {
		return v
	}
	for _, loss := range p.losses {
		v.LogLoss += loss / float64(len(p.losses))
	}
	all := p.judged.Sum()
	v.Brier, v.FavoriteWon = p.judged.Squares/all.Pairs, all.Won/all.Pairs
	for _, b := range p.judged.Buckets {
		if b.Pairs > 0 {
			v.Calibration = append(v.Calibration, b.Means())
		}
	}
	return v
}

// Less returns by how much less each judged match cost than in another replay of the same results, which judges the
// same matches.
func (p *Replay) Less(than *Replay) []float64 {
	less := make([]float64, len(p.losses))
	for i := range less {
		less[i] = than.losses[i] - p.losses[i]
	}
	return less
}

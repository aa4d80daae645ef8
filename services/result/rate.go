package result

import (
	"slices"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/rating"
	"matchmaker.dev/services/internal/observe/report"
	"matchmaker.dev/services/internal/state"
)

// unread are players of a result, or of the one that it replaces, whose ratings were not read.
func unread(basis *state.ResultBasis, teams []*pb.ResultTeam) (players []string) {
	if len(state.RatingsFor(basis.Settings, basis.GetQueue())) == 0 && len(basis.Result.GetChanges()) == 0 &&
		basis.Settings.GetStanding() == nil && !basis.Result.GetStanding() {
		return nil
	}
	add := func(player string) {
		if _, read := basis.Ratings[player]; !read && player != "" && !slices.Contains(players, player) {
			players = append(players, player)
		}
	}
	for _, t := range slices.Concat(teams, basis.Result.GetTeams()) {
		for _, p := range t.GetPlayers() {
			add(p.GetId())
		}
	}
	for _, c := range basis.Result.GetChanges() {
		add(c.GetPlayer())
	}
	return players
}

// counted is a player's stored ratings while a result is counted.
type counted struct {
	read     string
	all      []state.PlayerRating
	standing state.Standing
}

// of is the rating of a name; nil for none.
func (c *counted) of(name string) *state.PlayerRating {
	at := slices.IndexFunc(c.all, func(r state.PlayerRating) bool { return r.Name == name })
	if at < 0 {
		return nil
	}
	return &c.all[at]
}

// outcomeOf is what a result says of how good the match was.
func outcomeOf(m *state.Played, teams []*pb.ResultTeam, odds []*pb.RatingOdds) *pb.MatchOutcome {
	o := &pb.MatchOutcome{Revision: m.GetRevision(), Function: m.GetFunction(), Upload: m.GetUpload(),
		Region: m.GetRegion(), Canary: m.GetCanary(), Party: m.GetParty(), Odds: odds}
	for _, t := range teams {
		for _, p := range t.GetPlayers() {
			if o.Players++; p.Left != nil {
				o.Left++
			}
		}
	}
	return o
}

// rate computes the ratings after a result, and notes in it what it changed. A correction is counted with the ratings
// from before the match; what players won and lost in other matches since then stays. odds compare with the result what
// the ratings of its players predicted, where each has one that is not provisional.
func rate(basis *state.ResultBasis, next *pb.MatchResult) (_ []state.Rated, odds []*pb.RatingOdds, err error) {
	players := map[string]*counted{}
	for player, stored := range basis.Ratings {
		all, err := state.ParseRatings(stored)
		if err != nil {
			return nil, nil, err
		}
		standing, err := state.ParseStanding(stored)
		if err != nil {
			return nil, nil, err
		}
		players[player] = &counted{stored, all, standing}
	}
	count(basis, next, players)
	now := time.UnixMilli(next.GetTime()).UTC()
	earlier := map[[2]string]*pb.RatingChange{}
	for _, c := range basis.Result.GetChanges() {
		earlier[[2]string{c.GetPlayer(), c.GetRating()}] = c
	}
	played := slices.DeleteFunc(slices.Clone(next.GetTeams()),
		func(t *pb.ResultTeam) bool { return len(t.GetPlayers()) == 0 })
	for _, rule := range state.RatingsFor(basis.Settings, basis.GetQueue()) {
		if len(played) < 2 {
			break
		}
		model, err := rating.New(state.RatingModel(rule))
		if err != nil {
			return nil, nil, err
		}
		judged := true
		teams := teamsOf(played, func(player string) rating.Rating {
			if c := earlier[[2]string{player, rule.GetName()}]; c != nil {
				return rating.Rating{Mean: c.GetMeanBefore(), Deviation: c.GetDeviationBefore(),
					Volatility: c.GetVolatilityBefore()}
			}
			if p := players[player]; p != nil && p.of(rule.GetName()) != nil {
				r := state.Current(rule, model, *p.of(rule.GetName()), now).Rating
				judged = judged && !state.IsProvisional(rule, r)
				return r
			}
			judged = false
			return state.RatingModel(rule).Start()
		})
		if judged {
			o := report.Odds{Rating: rule.GetName(), Judged: rating.Judge(model, teams)}
			odds = append(odds, o.Message())
		}
		after, season := model.Rate(teams), rule.GetSeason()
		for key, c := range earlier { // a correction counts in the season of the match, also for players that it adds
			if key[1] == rule.GetName() {
				season = c.GetSeason()
			}
		}
		for i, t := range played {
			for j, p := range t.GetPlayers() {
				of := players[p.GetId()]
				if of == nil { // an erased player
					continue
				}
				key := [2]string{p.GetId(), rule.GetName()}
				change := changeOf(key, teams[i].Players[j], after[i][j])
				change.Season = season
				next.Changes = append(next.Changes, change)
				of.set(rule, earlier[key], change, now)
				delete(earlier, key)
			}
		}
	}
	for key, c := range earlier { // of players, or by rules, that the correction does not count
		if r := players[key[0]].of(key[1]); r != nil { // unread has them
			*r = shifted(*r, c, changeOf(key, rating.Rating{}, rating.Rating{Mean: c.GetMeanBefore(),
				Deviation: c.GetDeviationBefore(), Volatility: c.GetVolatilityBefore()}))
			r.Matches--
		}
	}
	var all []state.Rated
	for player, of := range players {
		if stored := state.FormatRated(of.all, of.standing); stored != of.read {
			all = append(all, state.Rated{Player: player, Read: of.read, Ratings: stored})
		}
	}
	return all, odds, nil
}

// count counts a result in the standing of its players. A correction takes back what was counted, but for the opponents
// of players of the result before.
func count(basis *state.ResultBasis, next *pb.MatchResult, players map[string]*counted) {
	before := map[string]bool{}
	if basis.Result.GetStanding() {
		eachPlayer(basis.Result.GetTeams(), players, func(_ int, p *pb.ResultPlayer, of *state.Standing) {
			before[p.GetId()] = true
			of.Games, of.Left = max(0, of.Games-1), max(0, of.Left-leaves(p))
		})
	}
	rules := basis.Settings.GetStanding()
	if next.Standing = rules != nil; rules == nil {
		return
	}
	most := int(rules.GetRecent())
	eachPlayer(next.GetTeams(), players, func(team int, p *pb.ResultPlayer, of *state.Standing) {
		of.Games, of.Left = of.Games+1, of.Left+leaves(p)
		if most > 0 && !before[p.GetId()] {
			of.Meet(opponents(next.GetTeams(), team, most), most)
		}
	})
}

// eachPlayer calls do with the players of teams that were read; an erased one was not.
func eachPlayer(teams []*pb.ResultTeam, players map[string]*counted, do func(int, *pb.ResultPlayer, *state.Standing)) {
	for i, t := range teams {
		for _, p := range t.GetPlayers() {
			if of := players[p.GetId()]; of != nil {
				do(i, p, &of.standing)
			}
		}
	}
}

// leaves is 1 for a leaver.
func leaves(p *pb.ResultPlayer) int {
	if p.Left == nil {
		return 0
	}
	return 1
}

// opponents are the first of the players of other teams.
func opponents(teams []*pb.ResultTeam, team, most int) (players []string) {
	for i, t := range teams {
		for _, p := range t.GetPlayers() {
			if i != team && p.GetId() != "" && len(players) < most {
				players = append(players, p.GetId())
			}
		}
	}
	return players
}

// set writes what a match made of a rating.
func (c *counted) set(rule *pb.RatingRule, earlier, change *pb.RatingChange, now time.Time) {
	r := c.of(rule.GetName())
	if r != nil && earlier != nil {
		*r = shifted(*r, earlier, change)
		return
	}
	if r == nil {
		c.all = append(c.all, state.PlayerRating{Name: rule.GetName()})
		r = &c.all[len(c.all)-1]
	}
	r.Season, r.Changed, r.Matches = rule.GetSeason(), now, r.Matches+1
	r.Mean, r.Deviation, r.Volatility = change.GetMean(), change.GetDeviation(), change.GetVolatility()
}

// shifted is a rating for which a match did not do what it did, but something else.
func shifted(r state.PlayerRating, did, does *pb.RatingChange) state.PlayerRating {
	if r.Mean == did.GetMean() && r.Deviation == did.GetDeviation() { // nothing changed it since
		r.Mean, r.Deviation, r.Volatility = does.GetMean(), does.GetDeviation(), does.GetVolatility()
		return r
	}
	r.Mean += does.GetMean() - did.GetMean()
	r.Deviation *= does.GetDeviation() / did.GetDeviation()
	if did.GetVolatility() > 0 {
		r.Volatility *= does.GetVolatility() / did.GetVolatility()
	}
	return r
}

func changeOf(key [2]string, before, after rating.Rating) *pb.RatingChange {
	return &pb.RatingChange{Player: key[0], Rating: key[1],
		MeanBefore: before.Mean, DeviationBefore: before.Deviation, VolatilityBefore: before.Volatility,
		Mean: after.Mean, Deviation: after.Deviation, Volatility: after.Volatility}
}

// teamsOf are the teams of a result, with the ratings of their players.
func teamsOf(teams []*pb.ResultTeam, of func(player string) rating.Rating) []rating.Team {
	all := make([]rating.Team, len(teams))
	for i, t := range teams {
		all[i] = rating.Team{Rank: int(t.GetRank()), Score: t.GetScore()}
		if t.GetRank() == 0 { // one more than the teams with a higher score
			all[i].Rank = 1
			for _, other := range teams {
				if other.GetScore() > t.GetScore() {
					all[i].Rank++
				}
			}
		}
		for _, p := range t.GetPlayers() {
			all[i].Players = append(all[i].Players, of(p.GetId()))
		}
	}
	return all
}

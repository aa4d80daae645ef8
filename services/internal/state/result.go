package state

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// ResultMemory is how long after its first result a match takes corrections, and how late a first one may come.
const ResultMemory = 24 * time.Hour

// PlayedTicket is a ticket of a match. An erased player has no name. A team that all left has one without id and
// players.
type PlayedTicket struct {
	Team, Ticket string
	Players      []string
}

// Played is a match whose result is awaited, or was reported.
type Played struct {
	*pb.Awaited

	ID      string
	Tickets []PlayedTicket
	Created time.Time
	// Due is when the result must be there, and Missed that none came by then.
	Due    time.Time
	Missed bool
	// Result is nil while there is none.
	Result *pb.MatchResult

	stored  string // Tickets, as they are stored
	version string
	leave   Pauses // of its leavers
}

// awaitsOf is what scripts get of a match whose result is awaited; "" if none is.
func (s *Store) awaitsOf(m *pb.Match, connection string) (string, error) {
	if m.GetAwaited() == nil {
		return "", nil
	}
	record := proto.CloneOf(m.GetAwaited())
	record.Connection = connection
	body, err := proto.Marshal(record)
	if err != nil {
		return "", corrupt("match", err)
	}
	var teams strings.Builder
	for i, name := range teamNames(m) {
		fmt.Fprintf(&teams, "%d %s\n", len(m.GetProposal().GetTeams()[i].GetTickets()), name)
	}
	return fmt.Sprintf("%d %s %d %s\f%s\f%s", record.GetTime(), record.GetMatch(), cmp.Or(s.limits.Awaited, math.MaxInt32),
		flag(record.GetMatch() != m.GetId()), teams.String(), body), nil
}

// awaitedKeys is the key of a match whose result is awaited.
func awaitedKeys(k keys, m *pb.Match, awaits string) []string {
	if awaits == "" {
		return nil
	}
	return []string{k.result(m.GetAwaited().GetMatch())}
}

// teamNames are the names of the teams of a match, each another one; "" for the only team of a match, and where joining
// players have none.
func teamNames(m *pb.Match) []string {
	teams := m.GetProposal().GetTeams()
	names := make([]string, len(teams))
	for i, t := range teams {
		name := TeamName(t.GetName())
		if len(teams) > 1 && (name == "" || slices.Contains(names[:i], name)) {
			name = strconv.Itoa(i + 1)
		}
		names[i] = name
	}
	return names
}

// TeamName is how the name of a team stands in lineups, results and events: maxTeamName bytes at most.
func TeamName(name string) string {
	name = strings.ToValidUTF8(name[:min(len(name), maxTeamName)], "")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, name)
}

// playedFields are the fields of a match whose result is awaited, as playedOf reads them.
func playedFields() []string { return []string{"a", "p", "c", "b", "v", "y"} }

// playedOf reads a match; nil when no result of it is awaited.
func playedOf(id string, row []any) (*Played, error) {
	in := replied{of: "match " + id}
	stored := in.text(row[1])
	if row[0] == nil {
		return nil, in.err
	}
	m := &Played{ID: id, Awaited: new(pb.Awaited), Created: time.UnixMilli(in.digits(row[2])).UTC(), stored: stored,
		version: cmp.Or(in.text(row[4]), "0"), Missed: row[5] != nil}
	in.message(row[0], m.Awaited)
	m.Due = m.Created.Add(time.Duration(m.GetTime()) * time.Millisecond)
	if row[3] != nil {
		m.Result = new(pb.MatchResult)
		in.message(row[3], m.Result)
	}
	for ticket := range strings.SplitSeq(stored, "\f") {
		lines := strings.Split(ticket, "\n")
		team, of, _ := strings.Cut(lines[0], "\t")
		m.Tickets = append(m.Tickets, PlayedTicket{team, of, lines[1:]})
	}
	return m, in.err
}

// Played reads a match whose result is awaited or was reported. Errors: MatchUnknown.
func (s *Store) Played(ctx context.Context, project, id string) (*Played, error) {
	row, err := s.readShared(ctx, project, keysOf(project).result(id), playedFields()...)
	if err != nil {
		return nil, err
	}
	m, err := playedOf(id, row)
	if m == nil && err == nil {
		return nil, matchUnknown(id)
	}
	return m, err
}

func matchUnknown(id string) error {
	return problem.New(problem.MatchUnknown, "no result of match %q is awaited: its config has no \"result\", it has not "+
		"begun, or it was over long ago", id)
}

// ResultBasis is what a result is counted with.
type ResultBasis struct {
	*Played

	Settings *pb.ProjectSettings
	// Ratings are the players' ratings, as they are stored: "" for none.
	Ratings map[string]string
	// Boards are the project's leaderboards.
	Boards []string
}

// ReadResult reads, in one round trip, what a result of players is counted with. Errors: MatchUnknown.
func (s *Store) ReadResult(ctx context.Context, project, id string, players []string) (*ResultBasis, error) {
	k := keysOf(project)
	settings, match := hmget(ctx, k.settings(), "b"), hmget(ctx, k.result(id), playedFields()...)
	ratings, boards := hmget(ctx, k.ratings(), players...), redis.NewStringSliceCmd(ctx, "ZRANGE", k.boards(), 0, -1)
	cmds := []redis.Cmder{settings, match, ratings, boards}
	if len(players) == 0 {
		cmds = cmds[:2]
	}
	if err := s.shared(project).do(ctx, cmds...); err != nil {
		return nil, unavailable(err)
	}
	var in replied
	row := in.row(match)
	basis := &ResultBasis{Ratings: make(map[string]string, len(players)), Boards: boards.Val()}
	rated := make([]any, len(players))
	if len(players) > 0 {
		rated = in.row(ratings)
	}
	text := in.text(in.row(settings)[0])
	if in.err != nil {
		return nil, in.err
	}
	var err error
	if basis.Settings, err = parseSettings(text); err != nil {
		return nil, err
	}
	if basis.Played, err = playedOf(id, row); err != nil {
		return nil, err
	}
	if basis.Played == nil {
		return nil, matchUnknown(id)
	}
	if basis.Settings.GetAcceptance().GetLeavers() {
		basis.leave = PausesOf(basis.Settings)
	}
	for i, player := range players {
		basis.Ratings[player] = in.text(rated[i])
	}
	return basis, in.err
}

// ratingAge is for how long ratings are kept after a match.
func (s *Store) ratingAge() time.Duration {
	return withSlack(cmp.Or(s.limits.RatingAge, 9600*time.Hour))
}

// Rated are the ratings of a player as a caller read them, and as they are to be.
type Rated struct{ Player, Read, Ratings string }

// PutResult writes the result of a match, and the ratings that come of it, in one step. An event tells the outcome of a
// first result. It is false when the match or a rating has changed since the caller read it: nothing is written then.
// Errors: MatchUnknown, ResultFinal.
func (s *Store) PutResult(
	ctx context.Context, project string, m *ResultBasis, result *pb.MatchResult, outcome *pb.MatchOutcome, ratings []Rated,
) (done bool, err error) {
	body, err := proto.Marshal(result)
	if err != nil {
		return false, problem.Wrap(problem.Invalid, err, "the result holds text that is not UTF-8")
	}
	event := &pb.Event{Kind: pb.Event_KIND_RESULT, Match: m.ID, Config: m.GetConfig(), Queue: m.GetQueue(),
		Reason: "reported", Outcome: outcome}
	leavers := leaversOf(result)
	if m.Result != nil { // the outcome and the pauses count once
		event.Reason, event.Outcome, leavers = "corrected", nil, nil
	}
	k, rank := keysOf(project), m.ranking()
	c := s.call("result_put", k, ids{ofMatch: m.ID},
		"match_id", m.ID,
		"read", m.version,
		"body", body,
		"memory", ResultMemory.Milliseconds(),
		"event", s.encodeEvent(event),
		"rated_limit", cmp.Or(s.limits.Rated, math.MaxInt32),
		"age", s.ratingAge().Milliseconds(),
		"most", MostPlaced,
		"board_names", rank.names(),
		"leavers", strings.Join(leavers, "\n"),
		"first_pause", m.leave.First.Milliseconds(),
		"longest_pause", m.leave.Longest.Milliseconds(),
		"pause_limit", PausedPlayers)
	c.addKeys(k.board, slices.Concat(rank.boards, rank.gone))
	for _, one := range ratings {
		values, err := m.values(rank, one, result)
		if err != nil {
			return false, err
		}
		c.args = append(c.args, one.Player, one.Read, one.Ratings, stepsOf(m.ID, m.Result, one.Player),
			stepsOf(m.ID, result, one.Player), values)
	}
	var verdict string
	if err := s.evalShared(ctx, project, c, &verdict); err != nil {
		return false, err
	}
	switch verdict {
	case "ok":
		return true, nil
	case "gone":
		return false, matchUnknown(m.ID)
	case "final":
		return false, problem.New(problem.ResultFinal, "the result of match %q is more than a day old, and final", m.ID)
	}
	return false, nil
}

// leaversOf are the players that left a match early.
func leaversOf(r *pb.MatchResult) (players []string) {
	for _, t := range r.GetTeams() {
		for _, p := range t.GetPlayers() {
			if p.Left != nil && p.GetId() != "" {
				players = append(players, p.GetId())
			}
		}
	}
	return players
}

// SweepResults notes up to limit results that did not come in time, and forgets as many matches that were over long
// ago, and ratings that are too old.
func (s *Store) SweepResults(ctx context.Context, project string, limit int) (missing int, more bool, err error) {
	k := keysOf(project)
	due, err := s.due(ctx, k.awaited(), millis(s.Now()), limit)
	if err != nil {
		return 0, false, err
	}
	if len(due) > 0 {
		c := s.call("result_sweep", k, ids{},
			"memory", ResultMemory.Milliseconds())
		for _, id := range due {
			c.keys = append(c.keys, k.result(id))
			c.args = append(c.args, id, s.encodeEvent(&pb.Event{Kind: pb.Event_KIND_RESULT, Match: id, Reason: "missing"}))
		}
		if err := s.eval(ctx, c, &missing); err != nil {
			return 0, false, err
		}
	}
	boards, err := s.Boards(ctx, project)
	if err != nil {
		return missing, false, err
	}
	c := s.call("ratings_expire", k, ids{},
		"age", s.ratingAge().Milliseconds(),
		"limit", limit)
	c.addKeys(k.board, boards)
	var forgotten int
	err = s.eval(ctx, c, &forgotten)
	return missing, len(due) == limit || forgotten == limit, err
}

// RunningMatch returns the match that a player plays, which has no result yet; nil for none. One whose server renews
// its token no more is over for the player.
func (s *Store) RunningMatch(ctx context.Context, project, player string) (*Played, error) {
	k := keysOf(project)
	id, err := s.textIn(ctx, project, k.running(), player)
	if err != nil || id == "" {
		return nil, err
	}
	m, err := s.Played(ctx, project, id)
	if problem.KindOf(err) == problem.NotFound {
		return nil, nil
	}
	return m, err
}

// ForgetPlayed takes a player out of a match whose result is awaited or was reported. It is false when the match
// changes meanwhile.
func (s *Store) ForgetPlayed(ctx context.Context, project, id, player string) (done bool, err error) {
	k := keysOf(project)
	m, err := s.Played(ctx, project, id)
	if problem.KindOf(err) == problem.NotFound {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	tickets := make([]string, len(m.Tickets))
	for i, t := range m.Tickets {
		players := slices.Clone(t.Players)
		for j, name := range players {
			if name == player {
				players[j] = ""
			}
		}
		tickets[i] = strings.Join(append([]string{t.Team + "\t" + t.Ticket}, players...), "\n")
	}
	var body []byte
	if m.Result != nil {
		for _, t := range m.Result.GetTeams() {
			for _, p := range t.GetPlayers() {
				if p.GetId() == player {
					p.Id = ""
				}
			}
		}
		m.Result.Changes = slices.DeleteFunc(m.Result.GetChanges(),
			func(c *pb.RatingChange) bool { return c.GetPlayer() == player })
		if body, err = proto.Marshal(m.Result); err != nil {
			return false, corrupt("result", err)
		}
	}
	err = s.eval(ctx, s.call("result_forget", k, ids{ofMatch: m.ID},
		"match_id", m.ID,
		"player", player,
		"read", m.stored,
		"version", m.version,
		"lineup", strings.Join(tickets, "\f"),
		"body", body), &done)
	return done, err
}

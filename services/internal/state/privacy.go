package state

import (
	"context"
	"slices"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// Mentions are the places that name a player, in a part of a project's state.
type Mentions struct {
	// Tickets are ids, KickedFrom ids of parties that keep the player out.
	Tickets, KickedFrom []string
	// Played are matches whose result is awaited or kept.
	Played  []string
	Answers []PlayerAnswer
	Games   []PlayerGame
	seen    map[string]bool
}

// isNew reports whether a key was not among the mentions.
func (m *Mentions) isNew(key string) bool {
	known := m.seen[key]
	m.seen[key] = true
	return !known
}

// PlayerAnswer is a player's answer to a match that asks.
type PlayerAnswer struct {
	Match    string
	Accepted bool
	// Left is how long the match may still ask.
	Left time.Duration
}

// PlayerGame is a running game that a player is in, goes to, or joined lately.
type PlayerGame struct {
	Backfill string
	// Player is the player in the game's roster; nil if its server does not name the player.
	Player *pb.RosterPlayer
}

// The most bytes that are read of a ticket or a match, and of a running game.
const (
	mentionSize = 1 << 10
	gameSize    = 512 << 10
)

// FindPlayer searches the state of a project, and calls take with the places that name a player, some at a time. It
// finds what exists from the beginning to the end. It looks at all keys of the server, slowly. It leaves out keys by
// the player's name: see Party, PauseOf and RateOf.
func (s *Store) FindPlayer(ctx context.Context, project, player string, take func(Mentions) error) error {
	k := keysOf(project)
	_, before, err := nodeOf(ctx, s.redis, k.lease())
	if err != nil {
		return unavailable(err)
	}
	seen := map[string]bool{} // a scan may name a key twice
	err = s.scanKeys(ctx, k, func(names []string) error {
		m := Mentions{seen: seen}
		for _, look := range []func(context.Context, keys, []string, string, *Mentions) error{
			s.ticketsWith, s.answersOf, s.partiesWithout, s.gamesWith, s.gamesAwaiting, s.playedBy,
		} {
			if err := look(ctx, k, names, player, &m); err != nil {
				return err
			}
		}
		return take(m)
	})
	if err != nil {
		return err
	}
	if _, after, err := nodeOf(ctx, s.redis, k.lease()); err != nil || after != before {
		return problem.Wrap(problem.Unavailable, err, "the state of this project was moved to another server, try again").
			After(moveDelay)
	}
	return nil
}

// idsOf returns the ids in the names that have a prefix.
func idsOf(names []string, prefix string) []string {
	var found []string
	for _, name := range names {
		if id, is := strings.CutPrefix(name, prefix); is {
			found = append(found, id)
		}
	}
	return found
}

// fieldsOf reads fields of hashes, each with at most so many bytes.
func (s *Store) fieldsOf(
	ctx context.Context, key func(string) string, ids []string, size int, take func(id string, row []any) error,
	fields ...string,
) error {
	return readHashes(ctx, s.redis, ids, key, fields, slices.Repeat([]int{size}, len(ids)), replyBytes,
		func(first int, read [][]any) error {
			for i, row := range read {
				if err := take(ids[first+i], row); err != nil {
					return err
				}
			}
			return nil
		})
}

func (s *Store) ticketsWith(ctx context.Context, k keys, names []string, player string, m *Mentions) error {
	return s.fieldsOf(ctx, k.ticket, idsOf(names, k.ticket("")), mentionSize, func(id string, row []any) error {
		players, _ := row[1].(string)
		ended, _ := row[2].(string)
		// Players that deleted it have a letter before.
		is := row[0] == player || hasLine(players, player) || hasLine(ended, "p"+player) || hasLine(ended, "s"+player)
		if is && m.isNew(k.ticket(id)) {
			m.Tickets = append(m.Tickets, id)
		}
		return nil
	}, "o", "p", "x")
}

// hasLine reports whether a line of a text is this one.
func hasLine(text, line string) bool {
	return strings.Contains("\n"+text+"\n", "\n"+line+"\n")
}

func (s *Store) answersOf(ctx context.Context, k keys, names []string, player string, m *Mentions) error {
	return s.fieldsOf(ctx, k.match, idsOf(names, k.match("")), mentionSize, func(id string, row []any) error {
		if row[0] == nil || !m.isNew(k.match(id)) {
			return nil
		}
		in := replied{of: "match " + id}
		deadline := in.digits(row[1])
		m.Answers = append(m.Answers, PlayerAnswer{Match: id, Accepted: row[0] == "1",
			Left: max(0, time.UnixMilli(deadline).Sub(s.Now()))})
		return in.err
	}, "p:"+player, "e")
}

// playedSize is the most bytes that are read of a lineup at once: more than most have.
const playedSize = 32 << 10

func (s *Store) playedBy(ctx context.Context, k keys, names []string, player string, m *Mentions) error {
	return s.fieldsOf(ctx, k.result, idsOf(names, k.result("")), playedSize, func(id string, row []any) error {
		tickets, _ := row[0].(string)
		if hasLine(strings.ReplaceAll(tickets, "\f", "\n"), player) && m.isNew(k.result(id)) {
			m.Played = append(m.Played, id)
		}
		return nil
	}, "p")
}

// partiesWithout finds the parties that a player was removed from. The one that the player is in is PartyOf.
func (s *Store) partiesWithout(ctx context.Context, k keys, names []string, player string, m *Mentions) error {
	return s.fieldsOf(ctx, k.party, idsOf(names, k.party("")), MaxPartySize, func(id string, row []any) error {
		body, _ := row[0].(string)
		if !strings.Contains(body, player) {
			return nil
		}
		p, err := parse[pb.Party]("party "+id, body)
		if err != nil {
			return err
		}
		if slices.Contains(p.GetKicked(), player) && m.isNew(k.party(id)) {
			m.KickedFrom = append(m.KickedFrom, id)
		}
		return nil
	}, "b")
}

func (s *Store) gamesWith(ctx context.Context, k keys, names []string, player string, m *Mentions) error {
	return s.fieldsOf(ctx, k.backfill, idsOf(names, k.backfill("")), gameSize, func(id string, row []any) error {
		there, _ := row[0].(string)
		game := PlayerGame{Backfill: id}
		is := hasLine(there, player)
		lately, _ := row[1].(string)
		for one := range strings.SplitSeq(lately, "\n") {
			_, name, _ := strings.Cut(one, " ")
			is = is || name == player
		}
		if encoded, ok := row[2].(string); ok && is {
			b, err := parse[pb.Backfill]("backfill ticket "+id, encoded) // the roster is stored as a field of it
			if err != nil {
				return err
			}
			for _, one := range b.GetRoster().GetPlayers() {
				if one.GetId() == player {
					game.Player = one
				}
			}
		}
		if is && m.isNew(k.backfill(id)) {
			m.Games = append(m.Games, game)
		}
		return nil
	}, "p", "j", "y")
}

// gamesAwaiting finds the games that a player goes to with a match.
func (s *Store) gamesAwaiting(ctx context.Context, k keys, names []string, player string, m *Mentions) error {
	for _, id := range idsOf(names, k.joining("")) {
		going, err := s.redis.HVals(ctx, k.joining(id)).Result()
		if err != nil {
			return unavailable(err)
		}
		is := slices.ContainsFunc(going, func(one string) bool {
			_, names, _ := strings.Cut(one, " ")
			return hasLine(names, player)
		})
		if is && m.isNew(k.backfill(id)) {
			m.Games = append(m.Games, PlayerGame{Backfill: id})
		}
	}
	return nil
}

// PlayerPause is the stored pause of a player that missed matches.
type PlayerPause struct {
	// Count is how many pauses there were one after the other, 0 when nothing is known. Left is how long the last one goes
	// on, and Kept for how long that is known at most.
	Count      int
	Left, Kept time.Duration
}

// PauseOf reads the pause of a player.
func (s *Store) PauseOf(ctx context.Context, project, player string) (p PlayerPause, err error) {
	err = s.inTurns(ctx, keysOf(project).pauses, player, func(_, value string, left time.Duration) error {
		until, count, _ := strings.Cut(value, " ")
		in := replied{of: "pause"}
		p.Count, p.Kept = max(p.Count, int(in.digits(count))), max(p.Kept, left)
		p.Left = max(p.Left, time.UnixMilli(in.digits(until)).Sub(s.Now()))
		return in.err
	})
	return p, err
}

// RateOf returns how long a player's bucket of the rate of creates is kept at most; 0 when it is not. It sets an end to
// buckets that an older version keeps without one.
func (s *Store) RateOf(ctx context.Context, project, player string) (kept time.Duration, err error) {
	err = s.inTurns(ctx, keysOf(project).players, player, func(key, _ string, left time.Duration) error {
		if left < 0 {
			return unavailable(s.redis.HDel(ctx, key, player).Err())
		}
		kept = max(kept, left)
		return nil
	})
	return kept, err
}

// inTurns reads a field of two hashes that take turns, and calls take with each value. left is the time until the hash
// ends, less than 0 if it never does.
func (s *Store) inTurns(
	ctx context.Context, key func(string) string, field string, take func(key, value string, left time.Duration) error,
) error {
	for _, turn := range []string{"0", "1"} {
		name := key(turn)
		value, err := textOf(s.redis.HGet(ctx, name, field))
		if err != nil {
			return err
		}
		if value == "" {
			continue
		}
		left, err := s.redis.PTTL(ctx, name).Result()
		if err != nil {
			return unavailable(err)
		}
		if left == -2 { // it ended meanwhile
			continue
		}
		if err := take(name, value, left); err != nil {
			return err
		}
	}
	return nil
}

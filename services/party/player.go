package party

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/labstack/echo/v4"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/auth"
	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/edge/response"
	"matchmaker.dev/services/internal/state"
)

// lookTime is how long an export or an erase may take, with a part of the time that a request has.
const lookTime = 50 * time.Second

// What an export has at most: of each kind, and in bytes of what is stored of tickets. So much is named of what an
// erase leaves.
const (
	exportedEach  = 1000
	exportedBytes = 8 << 20
)

// maxSearches is how many requests may wait for their turn to look for a player.
const maxSearches = 64

// changedTickets is how often a ticket may change while it is erased.
const changedTickets = 8

// look answers what do returns, if the caller may look for a player. The answer is written when others may look again.
func (s *service) look(c echo.Context, do func(ctx context.Context, project, player string) (any, error)) error {
	caller, project, player := auth.From(c), c.Param("project"), c.Param("player")
	if err := auth.MustAct(caller); err != nil {
		return err
	}
	if caller.Kind == auth.Developer {
		if err := auth.MustOwnProject(caller); err != nil {
			return err
		}
	}
	if !auth.IsPlayer(player) {
		return problem.New(problem.Invalid, "player: up to 256 bytes of printable UTF-8 are expected")
	}
	found, err := s.inTurn(c.Request().Context(), project, func(ctx context.Context) (any, error) {
		return do(ctx, project, player)
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, found)
}

// inTurn calls do with a deadline, while no other request searches. Projects take turns.
func (s *service) inTurn(
	ctx context.Context, project string, do func(ctx context.Context) (any, error),
) (found any, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	turn, err := s.lookups.Enter(ctx, project)
	if err != nil {
		return nil, problem.New(problem.Limited, "this process looks for other players, try again").Exceeds("players").
			After(time.Second)
	}
	defer turn.Leave(0)
	// The rate is of all processes: each look reads all keys of a server.
	if err := s.Store.Allow(ctx, project, "players", state.Rate{PerSecond: 0.5, Burst: 10}); err != nil {
		return nil, err
	}
	found, err = do(ctx)
	if err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return nil, problem.Wrap(problem.Unavailable, err, "not everything was looked at within %v: repeat the request",
			lookTime)
	}
	return found, err
}

func (s *service) export(c echo.Context) error {
	return s.look(c, func(ctx context.Context, project, player string) (any, error) {
		return s.exportOf(ctx, project, player)
	})
}

// exportOf is what is stored of a player.
func (s *service) exportOf(ctx context.Context, project, player string) (*response.PlayerExport, error) {
	doc, size := &response.PlayerExport{Player: player, Complete: true}, 0
	err := s.Store.FindPlayer(ctx, project, player, func(m state.Mentions) error {
		for _, id := range m.Tickets {
			if len(doc.Tickets) == exportedEach || size >= exportedBytes {
				doc.Complete = false
				break
			}
			t, err := s.Store.Ticket(ctx, project, id)
			if problem.KindOf(err) == problem.NotFound {
				continue // it ended meanwhile
			}
			if err != nil {
				return err
			}
			size += proto.Size(t.Body) + proto.Size(t.Assignment)
			addTicket(doc, t)
		}
		exportMentions(doc, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.addRatings(ctx, project, doc); err != nil {
		return nil, err
	}
	standing, err := s.Store.StandingOf(ctx, project, player)
	if err != nil {
		return nil, err
	}
	doc.Standing = response.NewStanding(standing)
	if p, err := s.partyOf(ctx, project, player); err != nil {
		return nil, err
	} else if p != nil {
		addParty(doc, p)
	}
	return doc, s.addPenalties(ctx, project, player, doc)
}

// addRatings adds the player's ratings, and what came of them.
func (s *service) addRatings(ctx context.Context, project string, doc *response.PlayerExport) error {
	ratings, err := s.Store.RatingsOf(ctx, project, doc.Player)
	if err != nil {
		return err
	}
	for _, r := range ratings {
		doc.Ratings = append(doc.Ratings, response.NewRating(r))
	}
	settings, err := s.Store.Settings(ctx, project)
	if err != nil {
		return err
	}
	steps, err := s.Store.RatingSteps(ctx, project, doc.Player)
	if err != nil {
		return err
	}
	doc.RatingChanges = response.NewSteps(steps, settings.GetRatings())
	boards, err := s.Store.Boards(ctx, project)
	if err != nil {
		return err
	}
	places, err := s.Store.PlacesOf(ctx, project, doc.Player, boards)
	for _, one := range places {
		if one.Rank > 0 {
			doc.Leaderboards = append(doc.Leaderboards, response.LeaderboardPlace{Rating: one.Rating, Season: one.Season,
				Rank: one.Rank, Value: one.Value})
		}
	}
	return err
}

func (s *service) addPenalties(ctx context.Context, project, player string, doc *response.PlayerExport) error {
	pause, err := s.Store.PauseOf(ctx, project, player)
	if err != nil {
		return err
	}
	if pause.Count > 0 {
		doc.Pause = &response.PlayerPause{Count: pause.Count, Seconds: seconds(pause.Left), KeptSeconds: seconds(pause.Kept)}
	}
	rate, err := s.Store.RateOf(ctx, project, player)
	if err == nil && rate > 0 {
		doc.Rate = &response.PlayerRate{KeptSeconds: seconds(rate)}
	}
	return err
}

// partyOf is the party that a player is in, nil for none.
func (s *service) partyOf(ctx context.Context, project, player string) (*pb.Party, error) {
	id, err := s.Store.PartyOf(ctx, project, player)
	if err != nil || id == "" {
		return nil, err
	}
	p, err := s.Store.Party(ctx, project, id)
	if problem.KindOf(err) == problem.NotFound {
		return nil, nil
	}
	return p, err
}

// erase removes what is stored of a player, and answers what remains. It may be repeated.
func (s *service) erase(c echo.Context) error {
	return s.look(c, func(ctx context.Context, project, player string) (any, error) {
		done, err := s.eraseOf(ctx, project, player)
		if err == nil {
			err = s.Store.NoteErasure(ctx, project, auth.From(c).Subject)
			s.Log.InfoContext(ctx, "a player was erased", "project", project, "by", auth.From(c).Kind, "tickets", done.Tickets,
				"remains", len(done.Remains))
		}
		return done, err
	})
}

func (s *service) eraseOf(ctx context.Context, project, player string) (*response.ErasedPlayer, error) {
	done := &response.ErasedPlayer{Player: player}
	party, err := s.Store.PartyOf(ctx, project, player)
	if err != nil {
		return nil, err
	}
	if party != "" {
		_, err := s.change(ctx, project, party, by(player), func(p *pb.Party) (*pb.Party, error) {
			if state.MemberOf(p, player) == nil {
				return p, nil
			}
			done.Party = true
			return without(p, player), nil
		})
		if err != nil && problem.KindOf(err) != problem.NotFound {
			return nil, err
		}
	}
	var tickets []string
	err = s.Store.FindPlayer(ctx, project, player, func(m state.Mentions) error {
		tickets = append(tickets, m.Tickets...)
		for _, id := range m.Tickets {
			if err := s.eraseTicket(ctx, project, id, player); err != nil {
				return err
			}
			done.Tickets++
		}
		for _, id := range m.Played {
			if err := s.erasePlayed(ctx, project, id, player); err != nil {
				return err
			}
			done.Matches++
		}
		remainMentions(done, m)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if done.DeadLetters, err = s.Store.ForgetInDeadLetters(ctx, project, player, tickets); err != nil {
		return nil, err
	}
	// The last: a result that comes before the player is out of its match writes ratings.
	if done.Ratings, err = s.Store.ForgetRatings(ctx, project, player); err != nil {
		return nil, err
	}
	if err := s.Store.ForgetOpponent(ctx, project, player); err != nil {
		return nil, err
	}
	penalties := new(response.PlayerExport)
	if err := s.addPenalties(ctx, project, player, penalties); err != nil {
		return nil, err
	}
	remainPenalties(done, penalties)
	return done, nil
}

// errTooFast says that something changes each time that it is to be erased.
func errTooFast(what string) error {
	return problem.New(problem.Unavailable, "%s changes too fast, try again", problem.Word(what)).After(time.Second)
}

// erasePlayed takes a player out of a match whose result is awaited or kept.
func (s *service) erasePlayed(ctx context.Context, project, id, player string) error {
	for range changedTickets {
		if done, err := s.Store.ForgetPlayed(ctx, project, id, player); err != nil || done {
			return err
		}
	}
	return errTooFast("a match")
}

// eraseTicket ends a ticket of a player as the player would, if it has no result or no other players. The other players
// can still read a ticket with a result: only this player is taken out.
func (s *service) eraseTicket(ctx context.Context, project, id, player string) error {
	for range changedTickets {
		t, err := s.Store.Ticket(ctx, project, id)
		if problem.KindOf(err) == problem.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		shared := t.Body.GetOwner() != player ||
			slices.ContainsFunc(t.Body.GetPlayers(), func(p *pb.Player) bool { return p.GetId() != player })
		if shared && t.Assignment != nil {
			if done, err := s.Store.ForgetPlayer(ctx, project, id, player); err != nil || done {
				return err
			}
			continue
		}
		// One that gets its result meanwhile, and is for others too, stays.
		_, declined, err := s.Store.Leave(ctx, project, state.Leaving{Ticket: id, Player: player, By: player, Keeps: shared,
			Decline: []string{player}, Readable: s.Readable})
		if problem.KindOf(err) == problem.NotFound {
			continue
		}
		if err != nil {
			return err
		}
		if declined {
			s.Bus.Poke(ctx, project, &pb.Poke{Answered: true})
		}
		s.Bus.NotifyEnded(ctx, project, []string{id}, "deleted")
		if !shared {
			return nil
		}
	}
	return errTooFast("a ticket")
}

package state

import (
	"context"
	"strconv"
	"strings"
	"time"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/problem"
)

// Pauses says how long players that declined a match, or did not answer it, pause before their next ticket.
type Pauses struct {
	// First is the first pause; 0 if players do not pause. Each pause is twice as long as the one before, and at most
	// Longest. A player that has missed no match for Longest since the last pause begins anew.
	First, Longest time.Duration
}

// PausesOf returns the pauses of a project's settings.
func PausesOf(settings *pb.ProjectSettings) Pauses {
	a := settings.GetAcceptance()
	return Pauses{
		First:   time.Duration(a.GetFirstPause()) * time.Millisecond,
		Longest: time.Duration(a.GetLongestPause()) * time.Millisecond,
	}
}

// PausedPlayers is the most players of a project that pause in each of the two turns that are kept: with names of 256
// bytes they take about 50 MB.
const PausedPlayers = 1 << 16

// pausesOf reads the pauses of a project's settings.
func (s *Store) pausesOf(ctx context.Context, project string) (Pauses, error) {
	settings, err := s.Settings(ctx, project)
	return PausesOf(settings), err
}

// paused is the error of a verdict that a player pauses: "paused" and its number from 1.
func (c *creation) paused(v verdict) error {
	name := c.playerAt(strings.TrimPrefix(v.reason, pausedMark))
	e := problem.New(problem.Paused, "player %q declined or left a match, or did not answer it, and may search again in "+
		"%v", name, v.after.Round(time.Second)+time.Second).Exceeds("acceptance.pause")
	e.RetryAfter = v.after
	return e
}

// playerAt is the player of a creation with a number from 1.
func (c *creation) playerAt(number string) string {
	if n, err := strconv.Atoi(number); err == nil && c.players != "" {
		if names := strings.Split(c.players, "\n"); n >= 1 && n <= len(names) {
			return names[n-1]
		}
	}
	return c.Ticket.GetOwner()
}

// pausedMark begins such a verdict, and absentMark the verdict for a party's member that was not heard of since.
const (
	pausedMark = "paused "
	absentMark = "absent "
)

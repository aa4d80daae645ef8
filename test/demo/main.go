// Command demo shows matchmaking: it starts the service with everything it needs, uploads a match function, puts a
// config, and lets players arrive over HTTP. Each player waits for a game server, and some say hello to theirs. In a
// second act players leave running games, and others join these. In a third one a ladder finds its order. Each act ends
// with a summary. The exit code is 1 when a player got no server, or one that does not run.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"matchmaker.dev/services/internal/platform/catalog"
	"matchmaker.dev/services/test/launch"
)

func main() {
	launch.Main("demo", "Watch players get matched, on real parts.", new(options))
}

// options of the demo.
type options struct {
	Matchmaker string        `help:"The server binary." default:"bin/matchmaker" type:"existingfile"`
	Function   string        `help:"The match function to upload." default:"bin/functions/duel.zip" type:"existingfile"`
	Players    int           `help:"How many players arrive; an even number leaves nobody alone." default:"200"`
	Over       time.Duration `help:"Time over which they arrive." default:"4s"`
	Hello      int           `help:"How many of them say hello to their game server." default:"40"`
	Arena      string        `help:"The match function of the second act." default:"bin/functions/arena.zip" type:"existingfile"`
	Games      int           `help:"Games of four in the second act; 0 leaves it out." default:"3"`
	Leave      int           `help:"How many players leave these games, and are replaced." default:"12"`
	Climbers   int           `help:"Players of the ladder in the third act, an even number; 0 leaves it out." default:"40"`
	Rounds     int           `help:"Rounds that each of them plays." default:"12"`
	Patience   time.Duration `help:"How long a player waits for a server." default:"30s"`
	Seed       uint64        `help:"Seed of skills and arrivals." default:"1"`
}

// project is the project of the demo.
const project = "demo"

// Run is called by kong.
func (o *options) Run(ctx context.Context, out io.Writer) error {
	if o.Games < 0 || o.Leave < 0 {
		return errors.New("--games and --leave: must not be negative")
	}
	if o.Climbers < 0 || o.Climbers%2 == 1 || o.Rounds < 2 {
		return errors.New("--climbers: must be even, and --rounds at least 2")
	}
	if o.Players < 2 || o.Players%2 == 1 {
		return fmt.Errorf("--players: %d is not an even number of 2 or more: somebody would be left without an opponent",
			o.Players)
	}
	var s *launch.Matchmaker
	what := fmt.Sprintf("Starting %d services, NATS, Redis and a fleet of game servers", len(catalog.Names()))
	if err := step(out, what, func() (err error) {
		// Players leave only when the demo lets them.
		s, err = launch.Dev(ctx, os.Stderr, o.Matchmaker, "--player-stay", "0s")
		return err
	}); err != nil {
		return err
	}
	defer func() { _ = s.Stop() }()
	fmt.Fprintf(out, "They listen on %s.\n", s.URL)
	if err := step(out, "Uploading a match function and its config", func() error {
		return prepare(ctx, s, o.Function)
	}); err != nil {
		return err
	}
	fmt.Fprintf(out, "%d players arrive over %s, each with a token and a skill. They meet one against one.\n", o.Players,
		o.Over)
	crowd := newCrowd(*o)
	if err := crowd.play(ctx, s, out); err != nil {
		return err
	}
	crowd.summary(out)
	if err := crowd.err(); err != nil || o.Games == 0 {
		return errors.Join(err, s.Stop())
	}
	if err := secondAct(ctx, s, *o, out); err != nil {
		return err
	}
	if o.Climbers > 0 {
		if err := thirdAct(ctx, s, *o, out); err != nil {
			return err
		}
	}
	return s.Stop()
}

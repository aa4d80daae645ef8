package stream

import "time"

// Settings of streams. Streams of each kind have places of their own.
type Settings struct {
	Places    int           `help:"How many streams of events of tickets (GET /tickets/events), and as many of parties (GET /parties/{party}/events), one process has open; a project gets half of what the others leave free." default:"20000" name:"max-streams" bounds:"0.." group:"tickets"`
	PerPlayer int           `help:"How many of either one player may have." default:"4" name:"max-streams-player" bounds:"0.." group:"tickets"`
	Heartbeat time.Duration `help:"How often a stream sends something while nothing happens." default:"15s" name:"stream-heartbeat" bounds:"1s.." group:"tickets"`
	Spread    time.Duration `help:"Within which time the clients of streams come back that a stopping process ends." default:"10s" name:"stream-spread" bounds:">0" group:"tickets"`
}

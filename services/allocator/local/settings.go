package local

import "time"

// Settings of a fleet: flags, and members of a provider in the file of --hosting.
type Settings struct {
	Max      int           `help:"Most game servers of the local provider." name:"max-servers" yaml:"max-servers" default:"256" bounds:"1.." group:"allocator"`
	Lifetime time.Duration `help:"How long a game server of the local provider runs." name:"server-lifetime" yaml:"server-lifetime" default:"10m" bounds:">0" group:"allocator"`
	API      string        `help:"Where game servers of the local provider reach the Backfill API, to keep their games filled. This process when it serves all APIs; otherwise nowhere." name:"server-api" yaml:"server-api" placeholder:"URL" group:"allocator"`
	Command  string        `help:"Command for the shell that runs a game server of your own for each match of the local provider, instead of the one for demonstrations; deploy/hosting/local.md says what it is told." name:"server-command" yaml:"server-command" placeholder:"COMMAND" group:"allocator"`
	Stay     time.Duration `help:"How long a player stays in a game of the local provider that is kept filled, on average; 0 is for ever." name:"player-stay" yaml:"player-stay" default:"2m" bounds:"0.." group:"allocator"`
}

package main

import "time"

const description = `Work with a matchmaking service: functions, configs, tickets, tokens.

With "matchmaker dev" on the same machine you need no token: mm makes one of the right kind with the key in the data
folder.

Exit codes: 0 success, 1 failure, 2 wrong command line.`

// commandLine are all commands and flags.
type commandLine struct {
	commonFlags

	Token    tokenCommands    `cmd:"" help:"Print a token of a development service."`
	Function functionCommands `cmd:"" help:"Upload and look at match functions."`
	Config   configCommands   `cmd:"" help:"Write and read matchmaking configs."`
	Rules    rulesCommands    `cmd:"" help:"Check and translate rule sets."`
	Project  projectCommands  `cmd:"" help:"Read and change a project's settings."`
	Ticket   ticketCommands   `cmd:"" help:"Ask for a match, as a player does."`
	Party    partyCommands    `cmd:"" help:"Search for a match together, as players do."`
	Player   playerCommands   `cmd:"" help:"Export and erase what the service stores of a player."`
	Match    matchCommands    `cmd:"" help:"Look at a match."`
	Event    eventCommands    `cmd:"" help:"Read what happened to tickets and matches."`
	Top      topCommand       `cmd:"" help:"Watch a project: who waits, matches, functions."`
	Backfill backfillCommands `cmd:"" help:"Fill a running game with players, as a game server does."`
	Record   recordCommand    `cmd:"" help:"Record the tickets that come, for mm simulate."`
	Simulate simulateCommand  `cmd:"" help:"Play a day of players in virtual time, and compare configs."`
	Version  versionCommand   `cmd:"" help:"Print the version of mm."`
}

// commonFlags are the flags that every command has.
type commonFlags struct {
	URL     string        `name:"url" env:"MM_URL" default:"http://127.0.0.1:8080" help:"URL of the service."`
	Project string        `env:"MM_PROJECT" default:"demo" help:"Project to work in."`
	Data    string        `env:"MM_DATA" default:".matchmaker" help:"Data folder of a development service, with the key to make tokens. A name without slashes is looked for here and in the folders above."`
	Bearer  string        `name:"token" env:"MM_TOKEN" placeholder:"JWT" help:"Token to use instead of making one."`
	Output  string        `short:"o" env:"MM_OUTPUT" enum:"table,json" default:"table" help:"Print results as table or json."`
	Timeout time.Duration `default:"1m" help:"How long the command may take, including waiting."`
}

// Validate is called by the parser.
func (s commonFlags) Validate() error {
	if s.Timeout <= 0 {
		return usageError("--timeout must be more than 0, such as 30s")
	}
	return nil
}

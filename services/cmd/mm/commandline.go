package main

import (
	"time"

	"github.com/alecthomas/kong"

	"matchmaker.dev/services/lab"
)

const description = `Work with a matchmaking service: functions, configs, tickets, tokens.

With "matchmaker dev" on the same machine you need no token: mm finds the service by its data folder, and makes a token
of the right kind with the key there. For another service, "mm context set" keeps its address, and "mm login" logs in.

Exit codes: 0 success, 1 failure, 2 wrong command line, 130 interrupted (Ctrl-C).`

// commandLine are all commands and flags.
type commandLine struct {
	commonFlags

	Contexts contextCommands  `cmd:"" name:"context" help:"Choose the service that commands work with."`
	Login    loginCommand     `cmd:"" help:"Log in at an identity provider."`
	Logout   logoutCommand    `cmd:"" help:"Forget the tokens of a login."`
	Token    tokenCommands    `cmd:"" help:"Print a token of a development service."`
	Function functionCommands `cmd:"" help:"Upload and look at match functions."`
	Config   configCommands   `cmd:"" help:"Write and read matchmaking configs."`
	Rules    rulesCommands    `cmd:"" help:"Check and translate rule sets, and describe them to editors."`
	Project  projectCommands  `cmd:"" help:"Read and change a project's settings."`
	Webhook  webhookCommands  `cmd:"" help:"Look at the delivery of events to URLs, and send again what failed."`
	Ticket   ticketCommands   `cmd:"" help:"Ask for a match, as a player does."`
	Region   regionCommands   `cmd:"" help:"Measure how far regions are."`
	Party    partyCommands    `cmd:"" help:"Search for a match together, as players do."`
	Player   playerCommands   `cmd:"" help:"Export and erase what the service stores of a player."`
	Match    matchCommands    `cmd:"" help:"Look at a match."`
	Ratings  ratingsCommands  `cmd:"" help:"Rate players by the results of matches."`
	Changes  changesCommand   `cmd:"" help:"Print changes and their authors: the latest 1,000, of 90 days."`
	Queue    queueCommands    `cmd:"" help:"Look at the queues."`
	Event    eventCommands    `cmd:"" help:"Read what happened to tickets and matches."`
	Report   reportCommand    `cmd:"" help:"Print how good matches were: waits, spreads, what functions measure."`
	Top      topCommand       `cmd:"" help:"Watch a project: waiting tickets, matches, functions."`
	Backfill backfillCommands `cmd:"" help:"Fill a running game with players, as a game server does."`
	Record   lab.Record       `cmd:"" help:"Record the tickets that come, for mm simulate."`
	Simulate lab.Simulate     `cmd:"" help:"Play a day of players in virtual time, and compare configs."`
	Version  versionCommand   `cmd:"" help:"Print the version of mm."`

	Completion completionCommand `cmd:"" help:"Print how to make your shell complete commands (bash, zsh, fish)."`
}

// commonFlags are the flags that every command has.
type commonFlags struct {
	URL     string        `name:"url" env:"MM_URL" placeholder:"URL" help:"URL of the service; default: the context's, or the development service's in the data folder, or http://127.0.0.1:8080."`
	Project string        `env:"MM_PROJECT" help:"Project to work in; default: the context's, or demo."`
	Data    string        `env:"MM_DATA" placeholder:"FOLDER" completion-predictor:"folder" help:"Data folder of a development service, with its URL and the key to make tokens; default: .matchmaker. A name without slashes is looked for here and in the folders above."`
	Bearer  string        `name:"token" env:"MM_TOKEN" placeholder:"JWT" help:"Token to use instead of making one."`
	Context string        `name:"context" env:"MM_CONTEXT" placeholder:"NAME" completion-predictor:"context" help:"Context to use instead of the current one."`
	Output  string        `short:"o" env:"MM_OUTPUT" enum:"table,wide,json,yaml" default:"table" help:"Print results as table, wide (a table with more columns), json or yaml."`
	Timeout time.Duration `default:"1m" help:"How long the command may take, including waiting." bounds:">0"`

	PrintVersion kong.VersionFlag `name:"version" help:"Print the version of mm."`
}

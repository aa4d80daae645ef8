package main

type rulesCommands struct {
	Import rulesImport `cmd:"" help:"Translate a rule set of another matchmaker."`
}

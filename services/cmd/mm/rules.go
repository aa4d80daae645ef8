package main

type rulesCommands struct {
	Check  rulesCheck  `cmd:"" help:"Explain a rule set in words, or say what is wrong with it."`
	Import rulesImport `cmd:"" help:"Translate a rule set of another matchmaker."`
	Schema rulesSchema `cmd:"" help:"Print the JSON Schema of rule sets, for editors."`
}

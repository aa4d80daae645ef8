package main

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/pkg/matchfn/rules/schema"
	"matchmaker.dev/services/cmd/mm/format"
)

type rulesCommands struct {
	Check  rulesCheck  `cmd:"" help:"Explain a rule set in words, or say what is wrong with it."`
	Import rulesImport `cmd:"" help:"Translate a rule set of another matchmaker."`
	Schema rulesSchema `cmd:"" help:"Print the JSON Schema of rule sets, for editors."`
}

type rulesSchema struct {
	Config bool `help:"Print the schema of a config, whose matchmaking.config is a rule set."`
}

// Run prints the schema. It is JSON with any --output.
func (c rulesSchema) Run(s *session) error {
	text := schema.Rules()
	if c.Config {
		text = schema.Config()
	}
	_, err := io.WriteString(s.out, text)
	return err
}

type rulesCheck struct {
	rulesFile
	Language string `enum:"rules,flexmatch,unity,playfab,accelbyte" default:"rules" help:"The file's language: rules, flexmatch, unity, playfab or accelbyte."`
}

// Run prints what the rules mean.
func (c rulesCheck) Run(s *session) error {
	text, err := c.read(s, c.Language)
	if err != nil {
		return err
	}
	r, lines, err := c.parse(text)
	if err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	sections := rules.Explain(r)
	refused := countRefused(lines)
	if s.structured() {
		err = s.print(struct {
			Sections rules.Explanation  `json:"sections"`
			Verdicts []translation.Line `json:"verdicts,omitempty"`
		}{sections, lines})
	} else {
		for _, l := range lines {
			s.note("%s", l)
		}
		_, err = io.WriteString(s.out, sections.String())
	}
	if err == nil && refused > 0 {
		err = fmt.Errorf("not explained, as refused: %s of the file", format.Plural(refused, "rule"))
	}
	return err
}

// parse reads the rules, and what became of each if the file is in another language.
func (c rulesCheck) parse(text []byte) (*rules.Rules, []translation.Line, error) {
	if c.Language == "rules" {
		return parseOurs(text)
	}
	t, err := dialects.Import(c.Language, text, c.Pool)
	if err != nil {
		return nil, nil, err
	}
	return t.Rules, t.Lines, nil
}

// parseOurs reads the rules of a config: in our language, or another's as a member that is named after it.
func parseOurs(text []byte) (*rules.Rules, []translation.Line, error) {
	n, bad := document.Parse(text)
	if bad == nil && slices.ContainsFunc(dialects.Languages(), func(name string) bool { return n.Get(name) != nil }) {
		found, err := dialects.Settings(n)
		if err != nil {
			return nil, nil, err
		}
		return found.Rules, found.Lines, nil
	}
	r, err := rules.Parse(text)
	switch language := dialects.Guess(text); {
	case err == nil:
	case bad == nil && n.Get("matchmaking") != nil:
		err = errors.New("this is a config: give the rules alone, its matchmaking.config")
	case language != "":
		err = fmt.Errorf("%w; the file seems to be one of another matchmaker: try --language %s", err, language)
	}
	return r, nil, err
}

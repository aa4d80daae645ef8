package main

import (
	"cmp"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
)

type contextCommands struct {
	List   contextList   `cmd:"" help:"List the contexts."`
	Use    contextUse    `cmd:"" help:"Choose the context of the commands to come."`
	Set    contextSet    `cmd:"" help:"Make or change a context."`
	Show   contextShow   `cmd:"" help:"Print what applies to a command without flags."`
	Delete contextDelete `cmd:"" help:"Delete a context."`
}

// shownContext is a context without its tokens.
type shownContext struct {
	Name    string `json:"name,omitempty"`
	Current bool   `json:"current"`
	URL     string `json:"url,omitempty"`
	Project string `json:"project,omitempty"`
	Data    string `json:"data,omitempty"`
	// Tokens says where they come from.
	Tokens string `json:"tokens"`
}

// tokens says where the tokens of a context come from.
func (c *keptContext) tokens() string {
	switch {
	case c.Token != "":
		return "one that is kept"
	case c.TokenCommand != "":
		return "a command"
	case c.Login != nil && c.Login.Token == "" && c.Login.Refresh == "":
		return "not logged in at " + c.Login.Issuer
	case c.Login != nil:
		return "login at " + c.Login.Issuer
	}
	return "made with the key in the data folder"
}

func (c *keptContext) view(name string, current bool) shownContext {
	return shownContext{Name: name, Current: current, URL: c.URL, Project: c.Project, Data: c.Data, Tokens: c.tokens()}
}

type contextList struct{}

// Run prints the contexts.
func (contextList) Run(s *session) error {
	kept, err := s.readContexts()
	if err != nil {
		return err
	}
	list := []shownContext{}
	for _, name := range slices.Sorted(maps.Keys(kept.Contexts)) {
		list = append(list, kept.Contexts[name].view(name, name == kept.Current))
	}
	if len(list) == 0 {
		s.note("there are no contexts: \"mm context set NAME --url URL\" makes one")
	}
	return s.show(list, tableOf(list, "context=name, current, url, project, data, tokens"))
}

type contextUse struct {
	Name string `arg:"" optional:"" completion-predictor:"context" help:"The context; without it no context is used any more."`
}

// Run makes the context the current one.
func (c contextUse) Run(s *session) error {
	if err := s.changeContexts(func(kept *contextFile) error {
		kept.Current = c.Name
		if c.Name == "" {
			return nil
		}
		_, err := kept.get(c.Name)
		return err
	}); err != nil {
		return err
	}
	return s.showID("context", "context", c.Name)
}

type contextSet struct {
	Name         string `arg:"" completion-predictor:"context" help:"The context."`
	TokenCommand string `placeholder:"COMMAND" help:"Command for the shell that prints a token; it runs for each command that needs one."`
}

// Run writes the context.
func (c contextSet) Run(s *session) error {
	if !contextName.MatchString(c.Name) {
		return usageError(fmt.Sprintf("%q is no name of a context: "+
			"use 1 to 64 letters, digits, '.', '_' and '-', with a letter or digit first", c.Name))
	}
	if c.TokenCommand != "" && s.given.Bearer != "" {
		return usageError("--token and --token-command: give one of them")
	}
	if s.given.URL != "" {
		if err := checkURL("--url", s.given.URL); err != nil {
			return err
		}
	}
	data := s.given.Data
	if data != "" {
		var err error
		if data, err = filepath.Abs(findUpward(data)); err != nil {
			return err
		}
	}
	var now shownContext
	if err := s.changeContexts(func(kept *contextFile) error {
		one := kept.Contexts[c.Name]
		if one == nil {
			one = new(keptContext)
			kept.Contexts[c.Name] = one
		}
		if s.given.URL != "" && one.URL != "" && !sameURL(s.given.URL, one.URL) {
			// What was given for one service is not for another.
			one.Token, one.TokenCommand, one.Login = "", "", nil
		}
		one.URL, one.Project = cmp.Or(s.given.URL, one.URL), cmp.Or(s.given.Project, one.Project)
		one.Data = cmp.Or(data, one.Data)
		if s.given.Bearer != "" || c.TokenCommand != "" {
			one.Token, one.TokenCommand, one.Login = s.given.Bearer, c.TokenCommand, nil
		}
		if one.URL == "" && one.Data == "" {
			return usageError("--url, or the --data of a development service, is required")
		}
		kept.Current = cmp.Or(kept.Current, c.Name)
		now = one.view(c.Name, kept.Current == c.Name)
		return nil
	}); err != nil {
		return err
	}
	return s.showContext(now)
}

func (s *session) showContext(c shownContext) error {
	return s.showMembers(c, "context=name, current, url, project, data, tokens")
}

type contextShow struct {
	Name string `arg:"" optional:"" completion-predictor:"context" help:"A context, as it is kept; default: what applies now."`
}

// Run prints the context.
func (c contextShow) Run(s *session) error {
	kept, err := s.readContexts()
	if err != nil {
		return err
	}
	if c.Name != "" {
		one, err := kept.get(c.Name)
		if err != nil {
			return err
		}
		return s.showContext(one.view(c.Name, c.Name == kept.Current))
	}
	now := keptContext{URL: s.URL, Project: s.Project, Data: s.Data}
	if s.kept != nil {
		now.Token, now.TokenCommand, now.Login = s.kept.Token, s.kept.TokenCommand, s.kept.Login
	}
	shown := now.view(s.context, s.context != "" && s.context == kept.Current)
	if s.given.Bearer != "" {
		shown.Tokens = "the one that --token gives"
	}
	return s.showContext(shown)
}

type contextDelete struct {
	Name string `arg:"" completion-predictor:"context" help:"The context."`
}

// Run deletes the context.
func (c contextDelete) Run(s *session) error {
	was := false
	if err := s.changeContexts(func(kept *contextFile) error {
		_, was = kept.Contexts[c.Name]
		delete(kept.Contexts, c.Name)
		if kept.Current == c.Name {
			kept.Current = ""
		}
		return nil
	}); err != nil {
		return err
	}
	if !was {
		return s.showNothingDeleted("context", c.Name)
	}
	return s.showDeleted(c.Name)
}

// currentContext is the context that --context or the file names; nil if there is none.
func (s *session) currentContext() (string, *keptContext, error) {
	kept, err := s.readContexts()
	if err != nil {
		return "", nil, err
	}
	if s.Context != "" {
		one, err := kept.get(s.Context)
		return s.Context, one, err
	}
	one := kept.Contexts[kept.Current]
	if one == nil {
		return "", nil, nil
	}
	return kept.Current, one, nil
}

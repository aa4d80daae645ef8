package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/match/difference"
	"matchmaker.dev/services/lab"
)

type configDiff struct {
	ID   string `arg:"" name:"id" completion-predictor:"config" help:"The config's identifier."`
	File string `arg:"" optional:"" completion-predictor:"file" help:"Compare with this JSON file, or - for standard input."`
	From string `placeholder:"ETAG" help:"The change to compare, see \"mm config history\"; default: the one before the last, or the last one with a file."`
	To   string `placeholder:"ETAG" help:"The change to compare with; default: the last one."`
	lab.Translation
}

// Validate is called by kong.
func (c configDiff) Validate() error {
	if c.File != "" && c.To != "" {
		return errors.New("--to: a file is compared already")
	}
	return nil
}

// Run prints the difference.
func (c configDiff) Run(ctx context.Context, s *session, api developerAPI) error {
	var file json.RawMessage
	if c.File != "" {
		var err error
		if file, err = s.readConfig(c.File, c.Translation); err != nil {
			return err
		}
	}
	changes, err := api.ConfigHistory(ctx, c.ID)
	if err != nil {
		return err
	}
	last, to, kind := 0, file, difference.File
	if to == nil {
		at, err := c.find(changes, c.To, 0)
		if err != nil {
			return err
		}
		kind = difference.Answer
		if to, last = changes[at].Config, at+1; last == len(changes) {
			last = at // the only one: nothing differs
		}
	}
	at, err := c.find(changes, c.From, last)
	if err != nil {
		return err
	}
	differences, err := difference.Of(changes[at].Config, to, kind)
	if err != nil {
		return err
	}
	if len(differences) == 0 {
		s.note("nothing differs")
	}
	return s.show(differences, tableOf(differences, "value=path, before, after"))
}

// find returns the place of a change in a history; other if no tag is given.
func (c configDiff) find(changes []client.ConfigChange, tag string, other int) (int, error) {
	if tag == "" && other < len(changes) {
		return other, nil
	}
	tag = quoteETag(tag)
	at := slices.IndexFunc(changes, func(change client.ConfigChange) bool { return change.ETag == tag })
	if at < 0 {
		return 0, fmt.Errorf("config %s has no change %s in its history: see \"mm config history %s\"", c.ID, tag, c.ID)
	}
	return at, nil
}

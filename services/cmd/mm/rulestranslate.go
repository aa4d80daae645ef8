package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"matchmaker.dev/pkg/matchfn/dialects"
	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/services/lab"
)

// maxConfig is how many bytes a config has at most. Without its original, a larger one may be smaller.
const maxConfig = 64_000

// readConfig reads a config. Settings that are a rule set of another matchmaker become our rules, with the original
// beside them.
func (s *session) readConfig(file string, flags lab.Translation) ([]byte, error) {
	config, err := s.readJSON(file)
	if err != nil || flags.AsIs {
		return config, err
	}
	n, err := document.Parse(config)
	if err != nil {
		return config, nil //nolint:nilerr // the service says what is wrong
	}
	settings := lenient.Member(lenient.Member(n, "matchmaking"), "config")
	if settings == nil {
		return config, nil
	}
	found, err := dialects.Settings(settings)
	if found == nil && err == nil {
		return config, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", displayName(file), err)
	}
	for _, l := range found.Lines {
		s.note("%s", l)
	}
	if countRefused(found.Lines) > 0 && !flags.Partly {
		return nil, errors.New("rules of the file are refused: --partly takes the others")
	}
	original := found.Original.Text
	if found.Original.Kind != document.String {
		start, end := placeOf(config, found.Original)
		original = string(config[start:end])
	}
	start, end := placeOf(config, settings)
	found.Rules.Source = &rules.Source{Language: found.Language, Document: original}
	translated := bytes.Join([][]byte{config[:start], bytes.TrimSpace(rules.Write(found.Rules)), config[end:]}, nil)
	if len(translated) >= maxConfig {
		s.note("the config is too large with the original beside the rules: keep the file")
		found.Rules.Source.Document = ""
		translated = bytes.Join([][]byte{config[:start], bytes.TrimSpace(rules.Write(found.Rules)), config[end:]}, nil)
	}
	return translated, nil
}

// placeOf returns where the text of a value begins and ends.
func placeOf(text []byte, n *document.Node) (start, end int) {
	for range n.Line - 1 {
		start += bytes.IndexByte(text[start:], '\n') + 1
	}
	start += n.Column - 1
	value, _ := jsontext.NewDecoder(bytes.NewReader(text[start:])).ReadValue() // it is a value: it was parsed
	return start, start + len(value)
}

// splitSource returns what settings were translated from, and the settings without it.
func splitSource(settings []byte) (rules.Source, []byte) {
	var of struct{ Source rules.Source }
	var members map[string]json.RawMessage
	if json.Unmarshal(settings, &of) != nil || of.Source.Document == "" || json.Unmarshal(settings, &members) != nil {
		return rules.Source{}, settings
	}
	delete(members, "source")
	rest, err := json.Marshal(members)
	if err != nil {
		return rules.Source{}, settings
	}
	return of.Source, rest
}

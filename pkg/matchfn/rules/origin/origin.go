// Package origin reads rule sets in any of the languages: our own, and those of other matchmakers.
package origin

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/accelbyte"
	"matchmaker.dev/pkg/matchfn/rules/document"
	"matchmaker.dev/pkg/matchfn/rules/flexmatch"
	"matchmaker.dev/pkg/matchfn/rules/lenient"
	"matchmaker.dev/pkg/matchfn/rules/playfab"
	"matchmaker.dev/pkg/matchfn/rules/translation"
	"matchmaker.dev/pkg/matchfn/rules/unity"
)

// The languages of other matchmakers.
const (
	FlexMatch = "flexmatch"
	Unity     = "unity"
	PlayFab   = "playfab"
	AccelByte = "accelbyte"
)

// Languages returns the names of the languages.
func Languages() []string { return []string{FlexMatch, Unity, PlayFab, AccelByte} }

// Import translates a file. The pool is which of Unity's pools is taken; without it, the default.
func Import(language string, text []byte, pool string) (*translation.Translation, error) {
	if pool != "" && language != Unity {
		return nil, fmt.Errorf("only files of %s have pools", Unity)
	}
	if !slices.Contains(Languages(), language) {
		return nil, fmt.Errorf("there is no language %q, only %s", language, strings.Join(Languages(), ", "))
	}
	parse := lenient.Parse
	if language == PlayFab {
		parse = playfab.ParseMember
	}
	n, err := parse(text)
	if err != nil {
		return nil, err
	}
	return translate(language, n, pool)
}

// Read reads the settings of a config: a rule set in our language, or an object with one member, which is named after
// another language and is a rule set of it, as an object or as the text of a file. A rule that our rules do not say is
// an error. Errors have no line and column where the settings are one line, as services keep them: those of the file
// that somebody wrote are not known.
func Read(settings []byte) (*rules.Rules, error) {
	t, language, err := Translate(settings)
	if err != nil {
		return nil, err
	}
	if err := t.Refused(); err != nil {
		return nil, fmt.Errorf("%s: %w", language, err)
	}
	return t.Rules, nil
}

// Translate reads settings as Read does, and says what became of each rule and of which language it is: there are no
// lines, and the language is empty, if it is ours.
func Translate(settings []byte) (t *translation.Translation, language string, err error) {
	n, err := document.Parse(settings)
	if err != nil {
		return nil, "", err
	}
	if !bytes.ContainsRune(settings, '\n') {
		forgetLines(n)
	}
	if language = languageIn(n); language == "" {
		ours, err := rules.Read(n)
		return &translation.Translation{Rules: ours}, "", err
	}
	pool := ""
	for _, m := range n.Members {
		switch {
		case m.Name == language:
		case m.Name == "pool" && language == Unity && m.Kind == document.String:
			pool = m.Text
		default:
			return nil, language, m.Errorf("there is no such member beside %q", language)
		}
	}
	if t, err = within(language, n.Get(language), settings, pool); err != nil {
		err = fmt.Errorf("%s: %w", language, err)
	}
	return t, language, err
}

// languageIn is the language after which a member of settings is named; empty for none.
func languageIn(n *document.Node) (language string) {
	for _, name := range Languages() {
		if n.Get(name) != nil {
			language = name
		}
	}
	return language
}

// Guess is the language that a file seems to be in, by members that only its files have: that of a rule set of another
// matchmaker as it is, empty if nothing is recognised.
func Guess(text []byte) string {
	n, err := playfab.ParseMember(text)
	if err != nil {
		return ""
	}
	return guess(n, mostAround)
}

// mostAround is how many objects, lists and texts answers of APIs have around a rule set at most.
const mostAround = 10

func guess(n *document.Node, depth int) string {
	for _, of := range []struct {
		language string
		marks    []string
	}{
		{FlexMatch, flexmatch.Marks()}, {Unity, unity.Marks()}, {PlayFab, append(playfab.Marks(), "MatchmakingQueue")},
		{AccelByte, accelbyte.Marks()},
	} {
		if lenient.Member(n, of.marks...) != nil {
			return of.language
		}
	}
	if depth == 0 || lenient.Member(n, "teams") != nil { // the latter is our language
		return ""
	}
	for _, one := range lenient.Inside(n) {
		if language := guess(one, depth-1); language != "" {
			return language
		}
	}
	return ""
}

// forgetLines takes the line and the column from all values. Their paths stay.
func forgetLines(n *document.Node) {
	n.Line, n.Column = 0, 0
	for _, m := range n.Members {
		forgetLines(m.Node)
	}
	for _, e := range n.Elements {
		forgetLines(e)
	}
}

// within translates the original in the settings. Places of an object are those in the settings, places of a text those
// in the text.
func within(language string, n *document.Node, settings []byte, pool string) (*translation.Translation, error) {
	if n.Kind == document.String {
		return Import(language, []byte(n.Text), pool)
	}
	if len(settings) > lenient.MaxBytes {
		return nil, fmt.Errorf("the text has %d bytes, and at most %d are allowed", len(settings), lenient.MaxBytes)
	}
	return translate(language, n, pool)
}

func translate(language string, n *document.Node, pool string) (*translation.Translation, error) {
	switch language {
	case FlexMatch:
		set, err := flexmatch.Parse(n)
		if err != nil {
			return nil, err
		}
		return flexmatch.Translate(set)
	case Unity:
		queue, err := unity.Parse(n, pool)
		if err != nil {
			return nil, err
		}
		return unity.Translate(queue)
	case PlayFab:
		queue, err := playfab.Parse(n)
		if err != nil {
			return nil, err
		}
		return playfab.Translate(queue)
	}
	set, err := accelbyte.Parse(n)
	if err != nil {
		return nil, err
	}
	return accelbyte.Translate(set)
}

// Package dialects translates rule sets of other matchmakers into our language.
package dialects

import (
	"fmt"
	"strings"

	"matchmaker.dev/pkg/matchfn/dialects/accelbyte"
	"matchmaker.dev/pkg/matchfn/dialects/flexmatch"
	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/dialects/playfab"
	"matchmaker.dev/pkg/matchfn/dialects/translation"
	"matchmaker.dev/pkg/matchfn/dialects/unity"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// The languages of other matchmakers.
const (
	FlexMatch = "flexmatch"
	Unity     = "unity"
	PlayFab   = "playfab"
	AccelByte = "accelbyte"
)

// language is the members that only files of a language have, and how one is translated.
type language struct {
	name      string
	marks     []string
	translate func(*document.Node) (*translation.Translation, error)
}

// languages are the languages. The pool is which of Unity's pools is translated.
func languages(pool string) []language {
	queue := func(n *document.Node) (*unity.Queue, error) { return unity.Parse(n, pool) }
	return []language{
		{FlexMatch, flexmatch.Marks(), through(flexmatch.Parse, flexmatch.Translate)},
		{Unity, unity.Marks(), through(queue, unity.Translate)},
		{PlayFab, append(playfab.Marks(), "MatchmakingQueue"), through(playfab.Parse, playfab.Translate)},
		{AccelByte, accelbyte.Marks(), through(accelbyte.Parse, accelbyte.Translate)},
	}
}

func through[S any](
	parse func(*document.Node) (S, error), translate func(S) (*translation.Translation, error),
) func(*document.Node) (*translation.Translation, error) {
	return func(n *document.Node) (*translation.Translation, error) {
		set, err := parse(n)
		if err != nil {
			return nil, err
		}
		return translate(set)
	}
}

// Languages returns the names of the languages.
func Languages() (names []string) {
	for _, l := range languages("") {
		names = append(names, l.name)
	}
	return names
}

// Import translates a file. The pool is which of Unity's pools is taken; without it, the default.
func Import(language string, text []byte, pool string) (*translation.Translation, error) {
	if pool != "" && language != Unity {
		return nil, fmt.Errorf("only files of %s have pools", Unity)
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

func translate(language string, n *document.Node, pool string) (*translation.Translation, error) {
	for _, l := range languages(pool) {
		if l.name == language {
			return l.translate(n)
		}
	}
	return nil, fmt.Errorf("there is no language %q, only %s", language, strings.Join(Languages(), ", "))
}

// Read reads the settings of a config: a rule set in our language, or as Settings takes it. A rule that our rules do
// not say is an error.
func Read(settings []byte) (*rules.Rules, error) {
	n, err := document.Parse(settings)
	if err != nil {
		return nil, err
	}
	found, err := Settings(n)
	if err != nil {
		return nil, err
	}
	if found == nil {
		return rules.Read(n)
	}
	if err := found.Refused(); err != nil {
		return nil, fmt.Errorf("%s: %w", found.Language, err)
	}
	return found.Rules, nil
}

// Found is a rule set of another matchmaker in the settings of a config.
type Found struct {
	*translation.Translation
	Language string
	// Original is the rule set, or a string with its text.
	Original *document.Node
}

// Settings translates settings that are a rule set of another matchmaker, or an object with one member, which is named
// after a language and is a rule set of it or the text of its file. It returns nil for other settings.
func Settings(n *document.Node) (*Found, error) {
	f, pool := &Found{Language: languageIn(n)}, ""
	if f.Language == "" {
		if f.Language = guess(n, 0); f.Language == "" {
			return nil, nil
		}
		f.Original = n
	} else {
		for _, m := range n.Members {
			switch {
			case m.Name == f.Language:
				f.Original = m.Node
			case m.Name == "pool" && f.Language == Unity && m.Kind == document.String:
				pool = m.Text
			default:
				return nil, m.Errorf("there is no such member beside %q", f.Language)
			}
		}
	}
	var err error
	if f.Original.Kind == document.String {
		f.Translation, err = Import(f.Language, []byte(f.Original.Text), pool)
	} else {
		f.Translation, err = translate(f.Language, f.Original, pool)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Language, err)
	}
	return f, nil
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

// Guess is the language that a file seems to be in, by members that only its files have: another matchmaker's
// rule set as it is. It is empty if nothing is recognised.
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
	for _, l := range languages("") {
		if lenient.Member(n, l.marks...) != nil {
			return l.name
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

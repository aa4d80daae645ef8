package rules

import (
	"strings"

	"matchmaker.dev/pkg/matchfn/rules/document"
)

// Source is the rule set of another matchmaker that a rule set was translated from. Nothing reads it.
type Source struct {
	// Language is the name of its language, Document the text of its file.
	Language, Document string
}

func (r *reader) source(n *document.Node) *Source {
	if !r.is(n, document.Object) {
		return nil
	}
	r.only(n, "language", "document")
	s := &Source{Language: r.text(n.Get("language"), "")}
	if m := n.Get("document"); r.is(m, document.String) {
		s.Document = m.Text
	}
	return s
}

// marks are members of rule sets of other matchmakers, in small letters and without underscores.
var marks = map[string]string{
	"flexmatch": "flexmatch", "rulelanguageversion": "flexmatch", "rulesetbody": "flexmatch",
	"unity": "unity", "matchdefinition": "unity", "defaultpool": "unity", "filteredpools": "unity",
	"playfab": "playfab", "minmatchsize": "playfab", "maxmatchsize": "playfab", "matchmakingqueue": "playfab",
	"accelbyte": "accelbyte", "alliance": "accelbyte", "matchingrule": "accelbyte", "matchingrules": "accelbyte",
}

// foreign refuses the rule set of another matchmaker: it is translated once, and not here.
func (r *reader) foreign(n *document.Node) {
	for _, m := range n.Members {
		if language := marks[strings.ToLower(strings.ReplaceAll(m.Name, "_", ""))]; language != "" {
			r.fail(m.Node, `this is a rule set of another matchmaker: translate it with "mm rules import %s FILE", or send `+
				`the config with "mm config put"`, language)
		}
	}
}

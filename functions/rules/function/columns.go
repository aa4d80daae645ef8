package function

import (
	"slices"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/rules"
)

// columns are what the rule set in settings reads of tickets and players.
func columns(settings []byte) (matchfn.Columns, error) {
	r, err := read(settings)
	if err != nil {
		return matchfn.Columns{}, err
	}
	var c matchfn.Columns
	add := func(to *[]string, name string) {
		if !slices.Contains(*to, name) {
			*to = append(*to, name)
		}
	}
	for _, v := range r.Values {
		add(&c.Properties, v.From)
		add(&c.PlayerProperties, v.From)
		if v.Kind == rules.Number {
			add(&c.PlayerAttributes, v.From)
		}
	}
	c.Attributes = slices.Clone(r.Numbers)
	return c, nil
}

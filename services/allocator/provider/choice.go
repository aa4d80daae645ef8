package provider

import "context"

// Choice chooses one of several providers for each match. It is a Provider itself.
//
// The choice depends on the hosting of the Ref, which a match keeps for its whole life. When rules are removed or
// reordered while servers are out, another provider is asked to release them, which does not know them.
type Choice struct {
	// Rules are tried in order; the first that fits decides.
	Rules []Rule
	// Default is for matches that no rule fits.
	Default Provider
	// Names are the providers' names, for metrics.
	Names map[Provider]string
}

// NameOf is the name of the provider of a match.
func (c *Choice) NameOf(h Hosting) string { return c.Names[c.Of(h)] }

// Rule gives matches to a provider. It fits a match that has the same Profile and Fleet; an empty one fits any.
type Rule struct {
	Profile, Fleet string
	Provider       Provider
}

func (r *Rule) fits(h Hosting) bool {
	return (r.Profile == "" || r.Profile == h.Profile) && (r.Fleet == "" || r.Fleet == h.Fleet)
}

// Of is the provider of a match.
func (c *Choice) Of(h Hosting) Provider {
	for i := range c.Rules {
		if c.Rules[i].fits(h) {
			return c.Rules[i].Provider
		}
	}
	return c.Default
}

// Allocate asks the provider of the match.
func (c *Choice) Allocate(ctx context.Context, r *Request) (Result, error) {
	return c.Of(r.Hosting).Allocate(ctx, r)
}

// Poll asks each provider about its own matches.
func (c *Choice) Poll(ctx context.Context, refs []Ref) ([]Result, error) {
	results := make([]Result, len(refs))
	where := map[Provider][]int{}
	var order []Provider
	for i, r := range refs {
		p := c.Of(r.Hosting)
		if where[p] == nil {
			order = append(order, p)
		}
		where[p] = append(where[p], i)
	}
	for _, p := range order {
		own := make([]Ref, len(where[p]))
		for n, i := range where[p] {
			own[n] = refs[i]
		}
		got, err := p.Poll(ctx, own)
		if err != nil {
			return nil, err
		}
		for n, i := range where[p] {
			results[i] = got[n]
		}
	}
	return results, nil
}

// Release asks the provider of the match.
func (c *Choice) Release(ctx context.Context, r Ref) error {
	return c.Of(r.Hosting).Release(ctx, r)
}

package provider

import "context"

// Choice chooses one of several providers for each match. It is a Provider itself.
//
// The choice depends on the project and hosting of the Ref, which a match keeps for its whole life. When rules are
// removed or reordered while servers are out, another provider is asked to release them, which does not know them.
type Choice struct {
	Rules
	// Providers are all providers by their names.
	Providers map[string]Provider
}

func (c *Choice) of(r Ref) Provider { return c.Providers[c.Of(r.Project, r.Hosting)] }

// Allocate asks the provider of the match, if its project may use the match's hosting.
func (c *Choice) Allocate(ctx context.Context, r *Request) (Result, error) {
	if err := c.Check(r.Project, r.Hosting); err != nil {
		return Result{}, err
	}
	return c.of(r.Ref).Allocate(ctx, r)
}

// Poll asks each provider about its own matches.
func (c *Choice) Poll(ctx context.Context, refs []Ref) ([]Result, error) {
	results := make([]Result, len(refs))
	where := map[Provider][]int{}
	var order []Provider
	for i, r := range refs {
		p := c.of(r)
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
func (c *Choice) Release(ctx context.Context, r Ref) error { return c.of(r).Release(ctx, r) }

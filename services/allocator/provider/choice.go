package provider

import (
	"context"
	"slices"
)

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
	return PollGroups(refs, len(refs)+1, c.of, func(p Provider, own []Ref) ([]Result, error) { return p.Poll(ctx, own) })
}

// PollGroups calls poll with the refs of each key, up to most of them at a time, and returns the results in the order
// of refs.
func PollGroups[K comparable](
	refs []Ref, most int, key func(Ref) K, poll func(key K, some []Ref) ([]Result, error),
) ([]Result, error) {
	results, groups := make([]Result, len(refs)), map[K][]int{}
	for i, r := range refs {
		groups[key(r)] = append(groups[key(r)], i)
	}
	for k, group := range groups {
		for numbers := range slices.Chunk(group, most) {
			some := make([]Ref, len(numbers))
			for n, i := range numbers {
				some[n] = refs[i]
			}
			got, err := poll(k, some)
			if err != nil {
				return nil, err
			}
			for n, i := range numbers {
				results[i] = got[n]
			}
		}
	}
	return results, nil
}

// Release asks the provider of the match.
func (c *Choice) Release(ctx context.Context, r Ref) error { return c.of(r).Release(ctx, r) }

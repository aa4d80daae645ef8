package provider_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

func TestChoice(t *testing.T) {
	c := &provider.Choice{
		Rules: []provider.Rule{
			{Profile: "big", Fleet: "blue", Provider: instant.New("both:1")},
			{Fleet: "blue", Provider: instant.New("fleet:1")},
			{Profile: "big", Provider: instant.New("profile:1")},
			{Fleet: "blue", Profile: "small", Provider: instant.New("never:1")},
		},
		Default: instant.New("default:1"),
	}
	for want, hosting := range map[string]provider.Hosting{
		"both:1":    {Profile: "big", Fleet: "blue"},
		"fleet:1":   {Profile: "small", Fleet: "blue"},
		"profile:1": {Profile: "big", Fleet: "red"},
		"default:1": {Profile: "Big", Fleet: "Blue"},
	} {
		got, err := c.Allocate(t.Context(), &provider.Request{Ref: provider.Ref{Hosting: hosting}})
		if err != nil || got.Connection != want {
			t.Errorf("%+v: %+v, %v, want %s", hosting, got, err, want)
		}
	}
}

func TestChoiceConformance(t *testing.T) {
	conformance.Run(t, func(*testing.T) conformance.Fixture {
		return conformance.Fixture{Provider: &provider.Choice{Default: instant.New("a:1")}}
	})
}

// polled answers with what it is called.
type polled struct {
	provider.Provider
	name string
}

func (p *polled) Poll(_ context.Context, refs []provider.Ref) ([]provider.Result, error) {
	results := make([]provider.Result, len(refs))
	for i, r := range refs {
		results[i] = provider.Result{Status: provider.Allocated, Connection: p.name + "/" + r.Match}
	}
	return results, nil
}

func TestChoicePollsEachAfterItsOwn(t *testing.T) {
	c := &provider.Choice{
		Rules: []provider.Rule{{Fleet: "blue", Provider: &polled{name: "blue"}}}, Default: &polled{name: "default"},
	}
	var refs []provider.Ref
	for i, fleet := range []string{"blue", "", "blue", "red"} {
		refs = append(refs, provider.Ref{Match: fmt.Sprint(i), Hosting: provider.Hosting{Fleet: fleet}})
	}
	results, err := c.Poll(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range results {
		got = append(got, r.Connection)
	}
	if diff := cmp.Diff([]string{"blue/0", "default/1", "blue/2", "default/3"}, got); diff != "" {
		t.Error(diff)
	}
}

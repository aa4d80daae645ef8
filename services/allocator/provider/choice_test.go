package provider_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"matchmaker.dev/services/allocator/instant"
	"matchmaker.dev/services/allocator/provider"
	"matchmaker.dev/services/allocator/provider/conformance"
)

// choice has providers whose servers are called like them.
func choice(rules provider.Rules) *provider.Choice {
	c := &provider.Choice{Rules: rules, Providers: map[string]provider.Provider{}}
	for _, r := range append(rules.Rules, provider.Rule{Provider: rules.Default}) {
		c.Providers[r.Provider] = instant.New(r.Provider)
	}
	return c
}

func TestChoice(t *testing.T) {
	c := choice(provider.Rules{
		Rules: []provider.Rule{
			{Profile: "big", Fleet: "blue", Provider: "both:1"},
			{Fleet: "blue", Provider: "fleet:1"},
			{Profile: "big", Provider: "profile:1"},
			{Fleet: "blue", Profile: "small", Provider: "never:1"},
		},
		Default: "default:1",
	})
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
		return conformance.Fixture{Provider: choice(provider.Rules{Default: "a:1"})}
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
		Rules: provider.Rules{Rules: []provider.Rule{{Fleet: "blue", Provider: "blue"}}, Default: "default"},
		Providers: map[string]provider.Provider{
			"blue": &polled{name: "blue"}, "default": &polled{name: "default"},
		},
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

func TestPollThatFailsIsOfItsGroupOnly(t *testing.T) {
	refs, why := []provider.Ref{{Match: "a"}, {Match: "b"}, {Match: "c"}}, provider.Fail(provider.Refused, "its keys")
	poll := func(match string, some []provider.Ref) ([]provider.Result, error) {
		if match == "b" {
			return nil, why
		}
		return (&polled{name: match}).Poll(t.Context(), some)
	}
	results, err := provider.PollGroups(refs, 9, func(r provider.Ref) string { return r.Match }, poll)
	if err != nil || results[0].Connection != "a/a" || results[1] != (provider.Result{Err: why}) ||
		results[2].Connection != "c/c" {
		t.Errorf("%+v, %v", results, err)
	}
	if _, err := provider.PollGroups(refs, 9, func(provider.Ref) string { return "b" }, poll); !errors.Is(err, why) {
		t.Errorf("one call for all: %v", err)
	}
}

// Promise 9.
func TestRulesNameTheirProjects(t *testing.T) {
	c := choice(provider.Rules{
		Rules: []provider.Rule{
			{Profile: "cup", Provider: "cup:1"},
			{Fleet: "blue", Projects: []string{"a"}, Provider: "blue-a:1"},
			{Fleet: "blue", Projects: []string{"b"}, Provider: "blue-b:1"},
			{Fleet: "red", Profile: "fast", Projects: []string{"a"}, Provider: "fast:1"},
		},
		Default: "default:1", DefaultProjects: []string{"a", "b"}, Fleets: map[string]string{"cup:1": "blue"},
	})
	for _, tt := range []struct {
		project string
		hosting provider.Hosting
		want    string
	}{
		{"a", provider.Hosting{Fleet: "blue"}, "blue-a:1"},
		{"b", provider.Hosting{Fleet: "blue"}, "blue-b:1"},
		{"c", provider.Hosting{Fleet: "blue"}, ""},
		{"A", provider.Hosting{Fleet: "blue"}, ""},
		{"", provider.Hosting{Fleet: "blue"}, ""},
		{"a", provider.Hosting{Fleet: "blue", Profile: "cup"}, "cup:1"},
		{"c", provider.Hosting{Fleet: "blue", Profile: "cup"}, ""}, // another rule, which fits first, is for all
		{"c", provider.Hosting{Fleet: "green", Profile: "cup"}, "cup:1"},
		{"c", provider.Hosting{Profile: "cup"}, ""}, // the provider's default fleet is blue
		{"a", provider.Hosting{Profile: "cup"}, "cup:1"},
		{"c", provider.Hosting{Fleet: "BLUE"}, ""}, // some hosting systems do not regard letter case
		{"a", provider.Hosting{Fleet: "BLUE"}, "default:1"},
		{"b", provider.Hosting{Fleet: "red", Profile: "fast"}, ""},
		{"b", provider.Hosting{Fleet: "Red", Profile: "fast"}, ""},
		{"b", provider.Hosting{Fleet: "red", Profile: "slow"}, "default:1"},
		{"c", provider.Hosting{Fleet: "green"}, ""},
		{"c", provider.Hosting{}, ""},
		{"b", provider.Hosting{}, "default:1"},
	} {
		ref := provider.Ref{Project: tt.project, Hosting: tt.hosting}
		got, err := c.Allocate(t.Context(), &provider.Request{Ref: ref})
		if tt.want == "" && (provider.ReasonOf(err) != provider.Refused || !provider.Final(err)) {
			t.Errorf("%s, %+v: %+v, %v, want refused", tt.project, tt.hosting, got, err)
		}
		if tt.want != "" && (err != nil || got.Connection != tt.want) {
			t.Errorf("%s, %+v: %+v, %v, want %s", tt.project, tt.hosting, got, err, tt.want)
		}
		// Servers from before the rules named projects are found and given back.
		results, err := c.Poll(t.Context(), []provider.Ref{ref})
		if err != nil || len(results) != 1 || c.Release(t.Context(), ref) != nil {
			t.Errorf("%s, %+v: %v, %v", tt.project, tt.hosting, results, err)
		}
	}
}

package console

import (
	"cmp"
	"context"
	"slices"
)

// page is one kind of page.
type page struct {
	title, section string
	// live pages change by themselves.
	live bool
	load func(ctx context.Context, v *view) (any, error)
	// actions are what its forms do, by the value of their field do.
	actions map[string]action
}

// pages are all pages, by the last segment of their addresses.
func pages() map[string]page {
	return map[string]page{
		"now":       {title: "Now", section: "now", live: true, load: loadNow},
		"queue":     {title: "Queue", section: "now", live: true, load: loadQueue, actions: queueActions()},
		"search":    {title: "Search", load: loadSearch},
		"player":    {title: "Player", load: of(loadPlayer)},
		"ticket":    {title: "Ticket", load: of(loadTicket)},
		"capture":   {title: "Capture", load: of(loadCapture)},
		"party":     {title: "Party", load: of(loadParty)},
		"game":      {title: "Game", section: "fleets", load: of(loadGame)},
		"match":     {title: "Match", section: "fleets", load: of(loadMatch)},
		"configs":   {title: "Configs", section: "configs", load: loadConfigs},
		"config":    {title: "Config", section: "configs", load: loadConfig, actions: configActions()},
		"trial":     {title: "Trial", section: "configs", live: true, load: of(loadTrial)},
		"functions": {title: "Functions", section: "functions", live: true, load: loadFunctions},
		"function":  {title: "Function", section: "functions", live: true, load: loadFunction, actions: functionActions()},
		"fleets":    {title: "Fleets", section: "fleets", live: true, load: loadFleets},
		"quality":   {title: "Quality", section: "quality", load: loadQuality},
		"audit":     {title: "Audit", section: "audit", load: loadAudit},
	}
}

// noID refuses an address of something without its id.
const noID = viewerError("id: an identifier is expected in the address.")

// of loads what has an id.
func of(load func(ctx context.Context, v *view, id string) (any, error)) func(context.Context, *view) (any, error) {
	return func(ctx context.Context, v *view) (any, error) {
		id := v.QueryParam("id")
		if id == "" {
			return nil, noID
		}
		return load(ctx, v, id)
	}
}

// choice is a link that stands for one of several.
type choice struct {
	Name, Href string
	Chosen     bool
}

// choices are links to the page with other values of a parameter of its address.
func (v *view) choices(page, parameter, chosen string, options ...string) (all []choice) {
	for _, option := range options {
		q := v.QueryParams()
		pairs := []string{}
		for name := range q {
			if !slices.Contains([]string{parameter, "done", "format", "after", "value", "try"}, name) {
				pairs = append(pairs, name, q.Get(name))
			}
		}
		all = append(all, choice{option, v.link(page, append(pairs, parameter, option)...), option == chosen})
	}
	return all
}

// chosen is the value of a parameter, if it is one of the options, and else the first of these.
func (v *view) chosen(parameter string, options ...string) string {
	if value := v.QueryParam(parameter); slices.Contains(options, value) {
		return value
	}
	return cmp.Or(options...)
}

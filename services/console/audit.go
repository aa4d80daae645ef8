package console

import (
	"context"
	"slices"
	"strconv"
	"time"

	"matchmaker.dev/pkg/client"
)

// change is a change by a developer, or by the service.
type change struct {
	Time           time.Time
	Kind, Name, By string
	What           string
	Href           string
}

type audit struct {
	Kinds   []choice
	Authors []choice
	Changes []change
	// Older is the page with older ones; empty if there are none.
	Older string
}

func (v *view) changePage(ctx context.Context, q client.ChangeQuery) (*client.ChangePage, error) {
	return recall(ctx, v, "changes", 5*time.Second, q, (*client.Client).ListChanges)
}

// shownChanges are changes with what they changed. A change of a config leads to what differs, a function to its page.
func (v *view) shownChanges(page *client.ChangePage) (all []change) {
	for _, c := range page.Changes {
		one := change{Time: c.Time, Kind: c.Kind, Name: c.Name, By: c.By, What: c.Action}
		if c.ETag != "" {
			one.What += " " + c.ETag
		}
		if c.Upload > 0 {
			one.What += " " + strconv.FormatInt(c.Upload, 10)
		}
		if c.Detail != "" {
			one.What += ": " + c.Detail
		}
		switch c.Kind {
		case "config":
			one.Href = v.link("config", "id", c.Name, "to", c.ETag)
		case "function":
			one.Href = v.link("function", "name", c.Name)
		}
		all = append(all, one)
	}
	return all
}

func loadAudit(ctx context.Context, v *view) (any, error) {
	kinds := []string{"all", "config", "function", "settings", "player", "key"}
	kind, by := v.chosen("kind", kinds...), v.QueryParam("by")
	q := client.ChangeQuery{By: by, After: v.QueryParam("after"), Limit: 100}
	if kind != "all" {
		q.Kind = kind
	}
	page, err := v.changePage(ctx, q)
	if err != nil {
		return nil, err
	}
	authors := []string{""}
	if by != "" {
		authors = append(authors, by)
	}
	for _, c := range page.Changes {
		if !slices.Contains(authors, c.By) && len(authors) < 12 {
			authors = append(authors, c.By)
		}
	}
	a := &audit{Kinds: v.choices("audit", "kind", kind, kinds...), Authors: v.choices("audit", "by", by, authors...),
		Changes: v.shownChanges(page)}
	a.Authors[0].Name = "everybody"
	if page.Next != "" {
		a.Older = v.choices("audit", "after", "", page.Next)[0].Href
	}
	return a, nil
}

package search

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// isOfOtherKind reports whether something of another kind is said of a value that a player of a ticket lacks.
func isOfOtherKind(source Source, t uint32, v *rules.Value) bool {
	other := func(text []byte) bool {
		n, err := document.Parse(text)
		return err == nil && isOther(n, v.Kind)
	}
	if text, listed := source.Players(int(t)); listed {
		if n, err := document.Parse(text); err == nil && slices.ContainsFunc(n.Elements, func(player *document.Node) bool {
			return isOther(player.Get(v.From), v.Kind)
		}) {
			return true
		}
	}
	party, ok := source.(Party)
	if !ok {
		return false
	}
	if of := party.TicketValue(v.From); of != nil {
		if text, some := of(t); some && other(text) {
			return true
		}
	}
	if of := party.PlayerValue(v.From); of != nil {
		for player, end := party.PlayersOf(int(t)); player < end; player++ {
			if text, some := of(player); some && other(text) {
				return true
			}
		}
	}
	return false
}

// isOther reports whether a value is there, and not of a kind.
func isOther(n *document.Node, kind rules.Kind) bool {
	if n == nil || n.Kind == document.Null {
		return false
	}
	switch kind {
	case rules.Number:
		return n.Kind != document.Number
	case rules.String:
		return n.Kind != document.String
	case rules.Set:
		return n.Kind != document.List || slices.ContainsFunc(n.Elements, func(one *document.Node) bool {
			return one.Kind != document.String
		})
	}
	return n.Kind != document.Object || slices.ContainsFunc(n.Members, func(one document.Member) bool {
		return one.Kind != document.Number
	})
}

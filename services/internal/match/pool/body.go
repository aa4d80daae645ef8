package pool

import (
	"fmt"
	"slices"
	"strings"

	pb "matchmaker.dev/proto/matchmaker/v1"
)

// Property is an opaque value that a ticket's creator attached to it.
type Property struct{ Name, Value string }

// interner keeps names once that many tickets and players have.
type interner struct {
	// interned are names of properties and of players' attributes.
	interned map[string]string
	// lists are names of players' attributes; latest is the one that was needed last.
	lists  map[string]*nameList
	latest *nameList
	key    []byte
}

// maxInterned is how many names of properties are shared. When players invent more of them it begins anew.
const maxInterned = 1024

// intern returns a name as a string that other tickets have, too.
func (n *interner) intern(name string) string {
	if s, ok := n.interned[name]; ok {
		return s
	}
	if len(n.interned) >= maxInterned || n.interned == nil {
		n.interned = map[string]string{}
	}
	n.interned[name] = name
	return name
}

// properties are the properties ordered by name.
func (n *interner) properties(all map[string][]byte) []Property {
	if len(all) == 0 {
		return nil
	}
	list := make([]Property, 0, len(all))
	for name, value := range all {
		list = append(list, Property{n.intern(name), string(value)})
	}
	slices.SortFunc(list, func(a, b Property) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// checkBody refuses a ticket that the index cannot hold.
func checkBody(t *pb.Ticket) error {
	if names, values := len(t.GetAttributeNames()), len(t.GetAttributeValues()); names != values {
		return fmt.Errorf("ticket body: %d attribute names and %d values", names, values)
	}
	for _, p := range t.GetPlayers() {
		if names, values := len(p.GetAttributeNames()), len(p.GetAttributeValues()); names != values {
			return fmt.Errorf("ticket body: %d attribute names and %d values of a player", names, values)
		}
	}
	if t.GetCreated() < 0 || t.GetCreated() >= createdLimit {
		return fmt.Errorf("ticket body: created %d is not a time in Unix milliseconds", t.GetCreated())
	}
	return nil
}

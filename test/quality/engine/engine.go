// Package engine has the matchmakers that are compared: the function rules as it ships, simple readings of how other
// matchmakers build matches, and baselines.
package engine

import (
	"fmt"
	"slices"

	"matchmaker.dev/services/test/quality/world"
)

// Match is a match of waiting tickets, by their position in the list that an engine got.
type Match struct {
	Teams [][]int
	// Region is -1 if the engine names none.
	Region int
	// Shapes and Roles are what the function rules said, for the judge: the shape of each team, and the roles of its
	// players. They are nil for others.
	Shapes []int
	Roles  [][]string
}

// Tickets are all of a match's.
func (m *Match) Tickets(waiting []*world.Ticket) (all []*world.Ticket) {
	for _, team := range m.Teams {
		for _, at := range team {
			all = append(all, waiting[at])
		}
	}
	return all
}

// Engine makes matches. It belongs to one run of one world. One that is an io.Closer is closed at its end.
type Engine interface {
	// Match returns the matches that it makes at a time of the waiting tickets, which are in the order of their arrival.
	// No ticket is in two of them. They leave then.
	Match(now float64, waiting []*world.Ticket) ([]Match, error)
}

// Name is the name of an engine. The name of the function rules on the file of another language is "rules on" and the
// language.
type Name string

// The baselines.
const (
	OpenMatch Name = "open match"
	Nakama    Name = "nakama"
)

// Flexi is an engine if BuildFlexi built it.
const Flexi Name = "flexi"

const on = "rules on "

// On is the function rules with a file of a language.
func On(l world.Language) Name {
	if l.IsOwn() {
		return Name(l)
	}
	return on + Name(l)
}

// Literal is the literal reading of a language.
func Literal(l world.Language) Name { return Name(l) }

// languages are the languages of other matchmakers.
var languages = []world.Language{world.FlexMatch, world.Unity, world.PlayFab, world.AccelByte}

// Pairs returns the languages that can say a game's demands.
func Pairs(g *world.Game) []world.Language {
	return slices.DeleteFunc(slices.Clone(languages), func(l world.Language) bool { return !l.Says(g) })
}

// All returns the engines for a game.
func All(g *world.Game) []Name {
	all := []Name{On(world.Own), On(world.Hasty), On(world.Patient)}
	if g.Tuned.Until > 0 {
		all = append(all, On(world.Tuned))
	}
	for _, l := range Pairs(g) {
		all = append(all, On(l), Literal(l))
	}
	if flexiProgram != "" {
		all = append(all, Flexi)
	}
	return append(all, OpenMatch, Nakama)
}

// Exists returns an error for a name that no engine has.
func Exists(name Name) error {
	if l := name.Rules(); name == OpenMatch || name == Nakama || name == Flexi || name == On(l) || name == Literal(l) {
		return nil
	}
	return fmt.Errorf("there is no engine %q", name)
}

// Rules returns the language of the file that an engine's matches are judged by: baselines by our own.
func (n Name) Rules() world.Language {
	for _, l := range languages {
		if n == On(l) || n == Literal(l) || n == Flexi && l == world.FlexMatch {
			return l
		}
	}
	if l := world.Language(n); l.IsOwn() {
		return l
	}
	return world.Own
}

// New returns an engine for a game.
func New(name Name, g *world.Game, seed uint64) (Engine, error) {
	switch name {
	case OpenMatch:
		return &openMatch{game: g}, nil
	case Nakama:
		return &nakama{game: g}, nil
	case Flexi:
		return newFlexi(g)
	case Literal(world.FlexMatch):
		return newFlexMatch(g, seed), nil
	case Literal(world.Unity):
		return &unity{game: g}, nil
	case Literal(world.PlayFab):
		return &playFab{game: g}, nil
	case Literal(world.AccelByte):
		return &accelByte{game: g}, nil
	}
	if err := Exists(name); err != nil {
		return nil, err
	}
	return newRules(g, name.Rules())
}

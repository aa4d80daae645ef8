package rules

// Class is what follows for a match from a part of it.
type Class int

const (
	// Neither says nothing: the condition is looked at in whole matches only.
	Neither Class = iota
	// Removal is closed under taking tickets away. What a part of a match violates, the match violates.
	Removal
	// Addition is closed under adding tickets. What a part satisfies, the match satisfies.
	Addition
	// Both is a condition that does not depend on who else is in the match.
	Both
)

func (c Class) String() string {
	return [...]string{"neither", "removal", "addition", "both"}[c]
}

// Classify returns the class of a condition, at a given age. Bounds that follow the age of other tickets of a match may
// change when one comes or goes: see Bound.Over.
//
// A number of which players may have less than 0 is not closed under removal in a total; so totals are Neither.
func Classify(c Condition) Class {
	switch c := c.(type) {
	case *Same, *Spread, *Avoid:
		return Removal
	case *Share:
		return Removal
	case *Latency:
		if c.Apart != nil {
			return Neither
		}
		return Removal
	case *Holders:
		return counted(c.Count)
	case *Overlap:
		switch {
		case c.Other == "":
			return Removal // each player alone
		case c.Merge == Union && c.Count.Min == nil, c.Merge == Intersection && c.Count.Max == nil:
			return Removal
		}
		return Neither
	case *All:
		return together(c.Of)
	case *AnyOf:
		return together(c.Of)
	case *Not:
		switch Classify(c.Of) {
		case Removal:
			return Addition
		case Addition:
			return Removal
		case Both:
			return Both
		}
	}
	return Neither
}

// counted is the class of a count within a range.
func counted(r Range) Class {
	switch {
	case r.Min == nil && r.Max == nil:
		return Both
	case r.Min == nil:
		return Removal
	case r.Max == nil:
		return Addition
	}
	return Neither
}

// together is the class of conditions of which all or one must hold.
func together(of []Condition) Class {
	all := Both
	for _, c := range of {
		switch class := Classify(c); {
		case class == Both || class == all:
		case all == Both:
			all = class
		default:
			return Neither
		}
	}
	return all
}

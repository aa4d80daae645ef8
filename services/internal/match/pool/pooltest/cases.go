// Package pooltest is the table of which tickets a pool includes and excludes. The index's tests use it, and so do
// tests of a running system: every value in it can be written in JSON, and the filters on "created" hold for tickets
// that are created at any time after 2001.
package pooltest

import pb "matchmaker.dev/proto/matchmaker/v1"

// Ticket has the attributes of a ticket.
type Ticket map[string]float64

// Case is one pool, tickets that are in it and tickets that are not.
type Case struct {
	Name    string
	Filters []*pb.Filter
	In, Out []Ticket
}

// The doubles next to 10, and a time long ago (September 2001) in Unix milliseconds.
const (
	below10 = 9.999999999999998
	above10 = 10.000000000000002
	past    = 1_000_000_000_000
)

// Cases is the table.
func Cases() []Case {
	return []Case{
		{
			Name: "no filters",
			In:   []Ticket{{}, {"skill": 1}},
		},
		{
			Name:    "no bounds: whoever has the attribute",
			Filters: []*pb.Filter{{Attribute: "skill"}},
			In:      []Ticket{{"skill": 0}, {"skill": -1e308}, {"skill": 1e308}},
			Out:     []Ticket{{}, {"level": 1}},
		},
		{
			Name:    "half open",
			Filters: []*pb.Filter{within("skill", 10, 20)},
			In:      []Ticket{{"skill": 10}, {"skill": above10}, {"skill": 19.999999999999996}, {"skill": 15, "level": 1}},
			Out:     []Ticket{{"skill": 20}, {"skill": below10}, {"skill": 9}, {"skill": -15}, {"skill": 21}, {"level": 15}, {}},
		},
		{
			Name:    "closed where the bounds are equal",
			Filters: []*pb.Filter{within("skill", 10, 10)},
			In:      []Ticket{{"skill": 10}},
			Out:     []Ticket{{"skill": below10}, {"skill": above10}, {"skill": -10}, {}},
		},
		{
			Name:    "max below min",
			Filters: []*pb.Filter{within("skill", 20, 10)},
			Out:     []Ticket{{"skill": 10}, {"skill": 15}, {"skill": 20}, {}},
		},
		{
			Name:    "no max",
			Filters: []*pb.Filter{from("skill", 10)},
			In:      []Ticket{{"skill": 10}, {"skill": 1e308}},
			Out:     []Ticket{{"skill": below10}, {"skill": -1e308}, {}},
		},
		{
			Name:    "no min",
			Filters: []*pb.Filter{to("skill", 10)},
			In:      []Ticket{{"skill": below10}, {"skill": -1e308}},
			Out:     []Ticket{{"skill": 10}, {"skill": 1e308}, {}},
		},
		{
			Name:    "negative bounds",
			Filters: []*pb.Filter{within("skill", -20, -10)},
			In:      []Ticket{{"skill": -20}, {"skill": -10.5}},
			Out:     []Ticket{{"skill": -10}, {"skill": -20.5}, {"skill": 15}, {"skill": 0}},
		},
		{
			Name:    "from negative to positive",
			Filters: []*pb.Filter{within("skill", -1, 1)},
			In:      []Ticket{{"skill": -1}, {"skill": -1e-300}, {"skill": 0}, {"skill": 1e-300}},
			Out:     []Ticket{{"skill": 1}, {"skill": -1.5}},
		},
		{
			Name:    "from zero",
			Filters: []*pb.Filter{from("skill", 0)},
			In:      []Ticket{{"skill": 0}, {"skill": 5e-324}},
			Out:     []Ticket{{"skill": -5e-324}},
		},
		{
			Name:    "every filter must hold",
			Filters: []*pb.Filter{within("skill", 10, 20), within("level", 1, 3)},
			In:      []Ticket{{"skill": 10, "level": 1}, {"skill": 19, "level": 2, "mode": 7}},
			Out:     []Ticket{{"skill": 10}, {"level": 1}, {"skill": 10, "level": 3}, {"skill": 20, "level": 1}, {}},
		},
		{
			Name:    "two filters on one attribute intersect",
			Filters: []*pb.Filter{within("skill", 10, 20), within("skill", 15, 30)},
			In:      []Ticket{{"skill": 15}, {"skill": 19}},
			Out:     []Ticket{{"skill": 10}, {"skill": 20}, {"skill": 25}},
		},
		{
			Name:    "two filters that exclude each other",
			Filters: []*pb.Filter{within("skill", 10, 20), within("skill", 20, 30)},
			Out:     []Ticket{{"skill": 10}, {"skill": 20}, {"skill": 25}},
		},
		{
			Name:    "names of attributes are told apart by case",
			Filters: []*pb.Filter{within("Skill", 10, 20)},
			In:      []Ticket{{"Skill": 10}},
			Out:     []Ticket{{"skill": 10}, {"SKILL": 10}},
		},
		{
			Name:    "an attribute that no ticket has",
			Filters: []*pb.Filter{{Attribute: "nobody"}},
			Out:     []Ticket{{}, {"skill": 1}},
		},
		{
			Name:    "created since",
			Filters: []*pb.Filter{from("created", past)},
			In:      []Ticket{{}, {"skill": 1}},
		},
		{
			Name:    "created before",
			Filters: []*pb.Filter{to("created", past)},
			Out:     []Ticket{{}, {"skill": 1}},
		},
		{
			Name:    "created in the range of all times, and an attribute",
			Filters: []*pb.Filter{within("created", 0, 1e300), within("skill", 1, 2)},
			In:      []Ticket{{"skill": 1}},
			Out:     []Ticket{{}, {"skill": 2}},
		},
	}
}

func within(attribute string, min, max float64) *pb.Filter {
	return &pb.Filter{Attribute: attribute, Min: &min, Max: &max}
}

func from(attribute string, min float64) *pb.Filter {
	return &pb.Filter{Attribute: attribute, Min: &min}
}

func to(attribute string, max float64) *pb.Filter {
	return &pb.Filter{Attribute: attribute, Max: &max}
}

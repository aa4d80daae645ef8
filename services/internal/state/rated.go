package state

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
)

// Fields of the records of tickets and their players.
const (
	ticketValues, ticketPlayers, playerValues = 5, 8, 3
)

// sigma follows the name of a rating in the attribute with its deviation.
const sigma = ".sigma"

// ratedTicket says where a body has room for the ratings of the ticket's players: the script writes what is stored of
// them. Each rating has two places, of its mean and its deviation; 0 where the ticket has a value of its own.
type ratedTicket struct {
	rules   []writtenRule
	places  []int
	players []ratedPlayer
	// recent: the last opponents of its players are added.
	recent bool
}

// writtenRule is what tickets have of their players: a rating, or a number of the standing.
type writtenRule struct {
	*pb.RatingRule // of a number it has the name and the mean

	// combined says how a ticket's number comes from its players' (definition.Least…); "" for a rating.
	combined string
	// names are the attributes.
	names []string
}

// writtenRules are the rules of what a ticket has.
func writtenRules(ratings []*pb.RatingRule, standing *pb.StandingRules) []writtenRule {
	all := make([]writtenRule, 0, len(ratings))
	for _, rule := range ratings {
		all = append(all, writtenRule{rule, "", []string{rule.GetName(), rule.GetName() + sigma}})
	}
	for _, n := range definition.StandingAttributes(standing) {
		rule := &pb.RatingRule{Name: n.GetName(), Mean: n.GetStart()}
		all = append(all, writtenRule{rule, n.GetTicket(), []string{n.GetName()}})
	}
	return all
}

// ratedPlayer is a player of such a ticket. starts are the means that the player begins with.
type ratedPlayer struct {
	id     string
	starts []float64
	places []int
}

// columns are the attributes of a ticket or a player, by whose addresses they are changed.
type columns struct {
	names  *[]string
	values *[]float64
}

// add adds the attributes of ratings, and returns for each of them its index, -1 for an attribute that was there. The
// names stay sorted.
func (c columns) add(rules []writtenRule, starts []float64) []int {
	own := make([]bool, 2*len(rules))
	*c.names, *c.values = slices.Clone(*c.names), slices.Clone(*c.values)
	for i, rule := range rules {
		for j, name := range rule.names {
			at, found := slices.BinarySearch(*c.names, name)
			if found {
				continue
			}
			own[2*i+j] = true
			*c.names = slices.Insert(*c.names, at, name)
			*c.values = slices.Insert(*c.values, at, [2]float64{starts[i], rule.GetDeviation()}[j])
		}
	}
	index := make([]int, 2*len(rules))
	for i, rule := range rules {
		index[2*i], index[2*i+1] = -1, -1
		for j, name := range rule.names {
			if own[2*i+j] {
				index[2*i+j], _ = slices.BinarySearch(*c.names, name)
			}
		}
	}
	return index
}

// startsOf are the means that ratings start with, for a player with these attributes, or of a ticket with the others.
func startsOf(rules []writtenRule, all ...columns) []float64 {
	starts := make([]float64, len(rules))
	for i, rule := range rules {
		starts[i] = rule.GetMean()
		for _, c := range all {
			if at, found := slices.BinarySearch(*c.names, rule.GetStart()); found && rule.GetStart() != "" {
				starts[i] = max(-1e6, min((*c.values)[at], 1e6))
				break
			}
		}
	}
	return starts
}

// appendValues appends a field of doubles, and returns where the values begin in it.
func appendValues(to []byte, field protowire.Number, values []float64) (all []byte, begin int) {
	to = protowire.AppendVarint(protowire.AppendTag(to, field, protowire.BytesType), uint64(8*len(values)))
	begin = len(to)
	for _, v := range values {
		to = protowire.AppendFixed64(to, math.Float64bits(v))
	}
	return to, begin
}

// placesOf are the places of values in a body, counted from 1; 0 for none.
func placesOf(index []int, begin int) []int {
	places := make([]int, len(index))
	for i, at := range index {
		if at >= 0 {
			places[i] = begin + 8*at + 1
		}
	}
	return places
}

// countFromEnd counts places from the end of a body, as Lua does: most tickets then have the same.
func countFromEnd(places []int, size int) {
	for i, at := range places {
		if at > 0 {
			places[i] = size - at + 1
		}
	}
}

// encodeRated adds to a ticket the ratings that its players start with, and encodes it with room for the ratings that
// they have: the script that creates it reads them in the same step. Values are at the end of the bodies, so that the
// places are known.
func encodeRated(t *pb.Ticket, asked Creation) (body []byte, rated *ratedTicket, err error) {
	rules := writtenRules(asked.Ratings, asked.Standing)
	_, given := t.GetProperties()[definition.Recent]
	rated = &ratedTicket{rules: rules, recent: asked.Standing.GetRecent() > 0 && !given}
	own := columns{&t.AttributeNames, &t.AttributeValues}
	starts := startsOf(rules, own)
	players := make([]ratedPlayer, len(t.GetPlayers()))
	of := make([][]int, len(t.GetPlayers()))
	for i, p := range t.GetPlayers() {
		theirs := columns{&p.AttributeNames, &p.AttributeValues}
		players[i] = ratedPlayer{id: p.GetId(), starts: startsOf(rules, theirs, own)}
		of[i] = theirs.add(rules, players[i].starts)
	}
	index := own.add(rules, starts)
	without := &pb.Ticket{Id: t.GetId(), Owner: t.GetOwner(), Created: t.GetCreated(),
		AttributeNames: t.GetAttributeNames(), Properties: t.GetProperties(), Trace: t.GetTrace(), Queues: t.GetQueues()}
	if body, err = proto.Marshal(without); err != nil {
		return nil, nil, err
	}
	body, begin := appendValues(body, ticketValues, t.GetAttributeValues())
	rated.places = placesOf(index, begin)
	if len(players) == 0 {
		players = []ratedPlayer{{t.GetOwner(), starts, make([]int, len(index))}}
	}
	for i, p := range t.GetPlayers() {
		one, err := proto.Marshal(&pb.Player{Id: p.GetId(), AttributeNames: p.GetAttributeNames(),
			Properties: p.GetProperties()})
		if err != nil {
			return nil, nil, err
		}
		one, begin := appendValues(one, playerValues, p.GetAttributeValues())
		body = protowire.AppendVarint(protowire.AppendTag(body, ticketPlayers, protowire.BytesType), uint64(len(one)))
		players[i].places = placesOf(of[i], len(body)+begin)
		body = append(body, one...)
	}
	for _, p := range players {
		countFromEnd(p.places, len(body))
	}
	countFromEnd(rated.places, len(body))
	rated.players = players
	return body, rated, nil
}

// ratingSlots says for scripts where the bodies of a group have room for ratings; "" for none. It has lines: R and the
// rule of a rating, S and a number of the standing, T and a ticket by its number in the group, from 1, after that P and
// each of its players, and L and the most bytes of their last opponents.
func ratingSlots(batch []*creation) string {
	var rules string
	var text []byte
	known := map[string]int{}
	for n, one := range batch {
		if one.rated == nil {
			continue
		}
		for _, rule := range one.rated.rules {
			if known[rule.GetName()] == 0 {
				known[rule.GetName()] = len(known) + 1
				rules += ruleLine(rule)
			}
		}
		text = append(strconv.AppendInt(append(text, "T "...), int64(n+1), 10), ' ')
		for i, rule := range one.rated.rules {
			text = appendPlaces(strconv.AppendInt(text, int64(known[rule.GetName()]), 10), one.rated.places[2*i:])
		}
		for _, p := range one.rated.players {
			text = append(text, "\nP "...)
			for i, start := range p.starts {
				text = appendPlaces(strconv.AppendFloat(text, start, 'g', -1, 64), p.places[2*i:])
			}
			if len(p.starts) == 0 {
				text = append(text, '-')
			}
			text = append(append(text, ' '), p.id...)
		}
		if one.rated.recent {
			text = strconv.AppendInt(append(text, "\nL "...), ticketRecentBytes, 10)
		}
		text = append(text, '\n')
	}
	return rules + string(text)
}

// appendPlaces appends the places of a rule's values.
func appendPlaces(to []byte, places []int) []byte {
	to = strconv.AppendInt(append(to, ':'), int64(places[0]), 10)
	return append(strconv.AppendInt(append(to, ':'), int64(places[1]), 10), ',')
}

// ruleLine is a rule as scripts get it. The last number is 1 if players begin with an attribute, which is stored then.
func ruleLine(rule writtenRule) string {
	if rule.combined != "" {
		return fmt.Sprintf("S %s %s\n", rule.GetName(), rule.combined)
	}
	growth, byVolatility := growthOf(rule.RatingRule)
	season, keep := rule.GetSeason(), rule.GetKeep()
	if season == "" {
		season, keep = noSeason, 1
	}
	return fmt.Sprintf("R %s %s %.17g %.17g %.17g %.17g %.17g %.17g %s\n", rule.GetName(), season, rule.GetMean(),
		rule.GetDeviation(), rule.GetVolatility(), growth, byVolatility, keep, flag(rule.GetStart() != ""))
}

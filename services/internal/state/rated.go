package state

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
)

// Fields of the records of tickets and their players.
const (
	ticketValues, ticketPlayers, playerValues = 5, 8, 3
)

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
	// names are the attributes; "" for none.
	names [2]string
}

// writtenRules are the rules of what a ticket has.
func writtenRules(ratings []*pb.RatingRule, standing *pb.StandingRules) []writtenRule {
	all := make([]writtenRule, 0, len(ratings))
	for _, rule := range ratings {
		all = append(all, writtenRule{rule, "", [2]string{rule.GetName(), definition.SigmaOf(rule.GetName())}})
	}
	for _, n := range definition.StandingAttributes(standing) {
		rule := &pb.RatingRule{Name: n.GetName(), Mean: n.GetStart()}
		all = append(all, writtenRule{rule, n.GetTicket(), [2]string{n.GetName()}})
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
	names := append(make([]string, 0, len(*c.names)+2*len(rules)), *c.names...)
	values := append(make([]float64, 0, cap(names)), *c.values...)
	index := make([]int, 2*len(rules))
	for i, rule := range rules {
		for j, name := range rule.names {
			at, found := slices.BinarySearch(names, name)
			if found || name == "" {
				index[2*i+j] = -1
				continue
			}
			names = slices.Insert(names, at, name)
			values = slices.Insert(values, at, [2]float64{starts[i], rule.GetDeviation()}[j])
		}
	}
	for i, at := range index {
		if at >= 0 {
			index[i], _ = slices.BinarySearch(names, rules[i/2].names[i%2])
		}
	}
	*c.names, *c.values = names, values
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
func encodeRated(
	t *pb.Ticket, ratings []*pb.RatingRule, standing *pb.StandingRules,
) (body []byte, rated *ratedTicket, err error) {
	rules := writtenRules(ratings, standing)
	_, given := t.GetProperties()[definition.Recent]
	rated = &ratedTicket{rules: rules, recent: standing.GetRecent() > 0 && !given}
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
	values, listed := t.GetAttributeValues(), t.GetPlayers()
	t.AttributeValues, t.Players = nil, nil
	body, err = proto.MarshalOptions{}.MarshalAppend(make([]byte, 0, 256), t) // most have less
	if t.AttributeValues, t.Players = values, listed; err != nil {
		return nil, nil, err
	}
	body, begin := appendValues(body, ticketValues, values)
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

// ratingSlots says for scripts where the bodies of a group have room for ratings; "" for none. It has lines: the rules,
// and for each ticket of the group what it has by them, see layout.
func ratingSlots(batch []*creation) string {
	if !slices.ContainsFunc(batch, func(one *creation) bool { return one.rated != nil }) {
		return ""
	}
	var rules, text []byte
	var known []string
	for _, one := range batch {
		if one.rated == nil {
			text = append(text, "-\n"...)
			continue
		}
		for _, rule := range one.rated.rules {
			if !slices.Contains(known, rule.GetName()) {
				known = append(known, rule.GetName())
				rules = append(rules, ruleLine(rule)...)
			}
		}
		text = one.rated.layout(text, known)
	}
	return string(append(rules, text...))
}

// layout appends what scripts get of a ticket: the numbers of its rules, from 1, with their places, the most bytes of
// its last opponents, and for each player what it begins with, and the places.
func (r *ratedTicket) layout(to []byte, known []string) []byte {
	for i, rule := range r.rules {
		to = strconv.AppendInt(to, int64(slices.Index(known, rule.GetName())+1), 10)
		to = appendPlaces(to, r.places[2*i:])
	}
	if to = append(to, '|'); r.recent {
		to = strconv.AppendInt(to, ticketRecentBytes, 10)
	}
	to = append(to, '|')
	for _, p := range r.players {
		for i, start := range p.starts {
			to = appendPlaces(strconv.AppendFloat(to, start, 'g', -1, 64), p.places[2*i:])
		}
		to = append(to, '|')
	}
	return append(to, '\n')
}

// appendPlaces appends the places of a rule's values.
func appendPlaces(to []byte, places []int) []byte {
	to = strconv.AppendInt(append(to, ':'), int64(places[0]), 10)
	return append(strconv.AppendInt(append(to, ':'), int64(places[1]), 10), ',')
}

// ruleLine is a rule as scripts get it: a rating, R, or a number of a standing, S. Tabs are before the pattern of Lua
// that finds the values where nearly all players have them, and before the rest. The last number of a rating is 1 if
// players begin with an attribute, which is stored then.
func ruleLine(rule writtenRule) string {
	quoted := strings.NewReplacer(".", "%.", "-", "%-")
	name := quoted.Replace(rule.GetName())
	if rule.combined != "" {
		return fmt.Sprintf("S%s\t^!%s (%%S+)\t%s\n", rule.GetName(), name, rule.combined)
	}
	growth, byVolatility := growthOf(rule.RatingRule)
	season, keep, usual := rule.GetSeason(), rule.GetKeep(), quoted.Replace(rule.GetSeason())
	if season == "" {
		season, keep, usual = noSeason, 1, "%S+"
	}
	if usual = fmt.Sprintf("^%s %s (%%S+) (%%S+)", name, usual); growth+byVolatility > 0 {
		usual += " (%S+) %S+ (%d+)" // volatility and time
	}
	return fmt.Sprintf("R%s\t%s\t%s %.17g %.17g %.17g %.17g %.17g %.17g %s\n", rule.GetName(), usual, season,
		rule.GetMean(), rule.GetDeviation(), rule.GetVolatility(), growth, byVolatility, keep, flag(rule.GetStart() != ""))
}

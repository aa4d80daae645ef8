package guides

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// side is a team of a match: team definitions with a quantity have several, whose names have a number appended.
type side struct{ base, name string }

// flexmatch is a rule set, of which the guide says what it means:
// https://docs.aws.amazon.com/gameliftservers/latest/flexmatchguide, match-rules-reference-ruletype,
// match-rules-reference-property-expression, match-ruleset-property-definitions, match-rulesets-components-expansion;
// https://docs.aws.amazon.com/gameliftservers/latest/apireference, API_Player.
type flexmatch struct {
	set   object
	sides []side
	rules map[string]object
	parts map[string]bool // rules that a compound rule combines
}

func newFlexmatch(text []byte) guide {
	j := &flexmatch{set: object{}, rules: map[string]object{}, parts: map[string]bool{}}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&j.set); err != nil {
		panic(err)
	}
	for _, team := range list(j.set["teams"]) {
		t := team.(object)
		name, quantity := t["name"].(string), 1
		if q, ok := t["quantity"].(json.Number); ok {
			quantity, _ = strconv.Atoi(q.String())
		}
		for i := range quantity {
			one := side{name, name}
			if quantity > 1 {
				one.name = fmt.Sprint(name, "_", i+1)
			}
			j.sides = append(j.sides, one)
		}
	}
	for _, rule := range list(j.set["rules"]) {
		r := rule.(object)
		j.rules[r["name"].(string)] = r
		if statement, ok := r["statement"].(string); ok {
			for _, name := range regexp.MustCompile(`\w+`).FindAllString(statement, -1) {
				j.parts[name] = true
			}
		}
	}
	return j
}

func list(of any) []any { all, _ := of.([]any); return all }

func number(of any) *big.Rat {
	if n, ok := new(big.Rat).SetString(fmt.Sprint(of)); ok {
		return n
	}
	panic(fmt.Sprintf("%v is no number", of))
}

func (j *flexmatch) teams() int { return len(j.sides) }

// match is tickets in teams.
type match struct {
	*flexmatch
	pool  []ticket
	sides [][]int // tickets, by team
	party string  // the partyAggregation of the rule that is looked at
}

// allowed reports whether the rule set allows a match. The guide does not say whether players must have a region in
// common, only that each must have one: sure asks for a common one, too.
func (j *flexmatch) allowed(pool []ticket, sides [][]int, sure bool) bool {
	m := &match{flexmatch: j, pool: pool, sides: sides}
	if len(sides) != len(j.sides) || !m.suits() {
		return false
	}
	var regional []object
	for _, rule := range list(j.set["rules"]) {
		r := rule.(object)
		switch {
		case j.parts[r["name"].(string)]:
		case r["type"] == "latency":
			regional = append(regional, r)
		case !m.holds(r):
			return false
		}
	}
	return m.reaches(regional, sure)
}

// suits looks at the sizes of teams, and whether every player has a value for every declared attribute: "If no default
// is declared and a player does not provide a value, the player cannot be matched."
func (m *match) suits() bool {
	for i, tickets := range m.sides {
		for _, team := range list(m.set["teams"]) {
			t := team.(object)
			if name := t["name"].(string); name == m.flexmatch.sides[i].base {
				n := big.NewRat(int64(m.count(tickets)), 1)
				target := "teams[" + name + "]."
				least, most := m.now(target+"minPlayers", t["minPlayers"]), m.now(target+"maxPlayers", t["maxPlayers"])
				if !within(n, least, most) {
					return false
				}
			}
		}
	}
	for _, t := range m.tickets() {
		for _, p := range m.pool[t].players {
			for _, attribute := range list(m.set["playerAttributes"]) {
				a := attribute.(object)
				if p.attributes[a["name"].(string)] == nil && a["default"] == nil {
					return false
				}
			}
		}
	}
	return true
}

func (m *match) tickets() []int { return slices.Concat(m.sides...) }

func (m *match) count(tickets []int) (players int) {
	for _, t := range tickets {
		players += len(m.pool[t].players)
	}
	return players
}

// now is a value after expansions: the value of the last step whose wait time is over, for the newest or the oldest
// ticket of the match.
func (m *match) now(target string, value any) *big.Rat {
	algorithm, _ := m.set["algorithm"].(object)
	ages := []int{}
	for _, t := range m.tickets() {
		ages = append(ages, m.pool[t].age)
	}
	age := slices.Min(ages)
	if algorithm["expansionAgeSelection"] == "oldest" {
		age = slices.Max(ages)
	}
	for _, expansion := range list(m.set["expansions"]) {
		if e := expansion.(object); e["target"] == target {
			for _, step := range list(e["steps"]) {
				if s := step.(object); number(s["waitTimeSeconds"]).Cmp(big.NewRat(int64(age), 1)) <= 0 {
					value = s["value"]
				}
			}
		}
	}
	return number(value)
}

// of is a number of a rule, after expansions; nil if the rule has none.
func (m *match) of(r object, property string) *big.Rat {
	if r[property] == nil {
		return nil
	}
	return m.now(fmt.Sprintf("rules[%s].%s", r["name"], property), r[property])
}

func (m *match) holds(r object) bool {
	m.party, _ = r["partyAggregation"].(string)
	if m.party == "" && r["type"] == "collection" {
		m.party = "union"
	} else if m.party == "" {
		m.party = "avg"
	}
	switch r["type"] {
	case "batchDistance":
		return m.batch(r)
	case "distance":
		reference := m.reference(r).(*big.Rat)
		return m.each(r, func(measured any) bool {
			d := new(big.Rat).Sub(measured.(*big.Rat), reference)
			return within(d.Abs(d), m.of(r, "minDistance"), m.of(r, "maxDistance"))
		})
	case "comparison":
		return m.comparison(r)
	case "collection":
		return m.collection(r)
	case "compound":
		holds, rest := m.statement(r["statement"].(string))
		if rest != "" {
			panic(rest)
		}
		return holds
	}
	panic(r["type"])
}

func within(n, least, most *big.Rat) bool {
	return (least == nil || n.Cmp(least) >= 0) && (most == nil || n.Cmp(most) <= 0)
}

// each looks at all values of the measurements, which may be a list.
func (m *match) each(r object, holds func(measured any) bool) bool {
	for _, expression := range list(r["measurements"]) {
		value := m.eval(expression.(string))
		values, is := value.([]any)
		if !is {
			values = []any{value}
		}
		for _, one := range values {
			if !holds(one) {
				return false
			}
		}
	}
	return true
}

func (m *match) reference(r object) any {
	switch of := r["referenceValue"].(type) {
	case string:
		if strings.Contains(of, "[") {
			return m.eval(of)
		}
		return of
	case json.Number:
		return m.of(r, "referenceValue")
	default:
		return of
	}
}

// batch looks at the values of tickets: numbers within a distance, or the same string.
func (m *match) batch(r object) bool {
	var numbers []*big.Rat
	texts := map[string]bool{}
	for _, t := range m.tickets() {
		for i := range m.pool[t].players {
			switch v := m.value(t, i, r["batchAttribute"].(string)).(type) {
			case *big.Rat:
				numbers = append(numbers, v)
			case string:
				texts[v] = true
			}
		}
	}
	if len(numbers) == 0 {
		return len(texts) <= 1
	}
	least, greatest := slices.MinFunc(numbers, (*big.Rat).Cmp), slices.MaxFunc(numbers, (*big.Rat).Cmp)
	return within(new(big.Rat).Sub(greatest, least), nil, m.of(r, "maxDistance"))
}

// comparison compares with the reference, or else all with each other: "all or none of the players have the same".
func (m *match) comparison(r object) bool {
	if r["referenceValue"] == nil {
		seen, n := map[string]bool{}, 0
		m.each(r, func(measured any) bool { seen[fmt.Sprint(measured)], n = true, n+1; return true })
		if r["operation"] == "=" {
			return len(seen) <= 1
		}
		return len(seen) == n
	}
	reference := m.reference(r)
	return m.each(r, func(measured any) bool {
		if text, is := measured.(string); is {
			return (text == reference) == (r["operation"] == "=")
		}
		c := measured.(*big.Rat).Cmp(reference.(*big.Rat))
		return map[any]bool{"<": c < 0, "<=": c <= 0, "=": c == 0, "!=": c != 0, ">": c > 0, ">=": c >= 0}[r["operation"]]
	})
}

func (m *match) collection(r object) bool {
	least, most := m.of(r, "minCount"), m.of(r, "maxCount")
	counted := func(n int) bool { return within(big.NewRat(int64(n), 1), least, most) }
	var lists []any
	m.each(r, func(measured any) bool { lists = append(lists, measured); return true })
	switch r["operation"] {
	case "intersection": // "the number of values that are common in all players' collections"
		return counted(len(list(common(lists))))
	case "contains": // "the number of player attribute collections that contain a certain reference value"
		n := 0
		for _, one := range lists {
			if slices.Contains(list(one), r["referenceValue"]) {
				n++
			}
		}
		return counted(n)
	}
	for _, one := range lists { // "evaluated against the reference collection separately"
		if !counted(len(list(common([]any{one, m.reference(r)})))) {
			return false
		}
	}
	return true
}

// common is the strings that all lists have.
func common(lists []any) any {
	all := []any{}
	for _, s := range list(lists[0]) {
		if !slices.Contains(all, s) && !slices.ContainsFunc(lists, func(l any) bool { return !slices.Contains(list(l), s) }) {
			all = append(all, s)
		}
	}
	return all
}

// statement evaluates and, or, not and xor of rules, and returns the text that follows.
func (m *match) statement(text string) (holds bool, rest string) {
	text = strings.TrimSpace(text)
	end := strings.IndexAny(text, "(,)")
	if end < 0 || text[end] != '(' {
		if end < 0 {
			end = len(text)
		}
		return m.holds(m.rules[strings.TrimSpace(text[:end])]), text[end:]
	}
	name, n, of := text[:end], 0, 0
	for rest = text[end:]; rest[0] != ')'; n++ {
		var one bool
		if one, rest = m.statement(rest[1:]); one {
			of++
		}
	}
	return map[string]bool{"and": of == n, "or": of > 0, "not": of == 0, "xor": of == 1}[name], rest[1:]
}

// reaches looks at latency rules. "For each player, ignore all regions that exceed this latency"; "if no latency is
// reported, FlexMatch assumes that no Regions are available to the player and the ticket is not matchable".
func (m *match) reaches(all []object, sure bool) bool {
	if len(all) == 0 {
		return true
	}
	regions := map[string]int{} // to how many tickets each is available
	for _, t := range m.tickets() {
		n := 0
		for name := range m.pool[t].players[0].latency {
			if m.available(all, t, name) {
				regions[name], n = regions[name]+1, n+1
			}
		}
		if n == 0 {
			return false
		}
	}
	if !sure {
		return true
	}
	for name, n := range regions {
		if n == len(m.tickets()) && m.near(all, name) {
			return true
		}
	}
	return false
}

// available reports whether all latency rules leave a region to a ticket.
func (m *match) available(all []object, t int, region string) bool {
	for _, r := range all {
		n := m.latency(r, t, region)
		if n == nil || !within(n, nil, m.of(r, "maxLatency")) {
			return false
		}
	}
	return true
}

// latency is a ticket's latency to a region, at least 1 ms; nil if a player did not report it.
func (m *match) latency(r object, t int, region string) *big.Rat {
	var of []*big.Rat
	for _, p := range m.pool[t].players {
		n, ok := p.latency[region]
		if !ok || number(n).Sign() <= 0 {
			return nil
		}
		of = append(of, number(n))
	}
	how, _ := r["partyAggregation"].(string)
	if how == "" {
		how = "avg"
	}
	return reduce(how, of)
}

// near reports whether each latency is within maxDistance of the least or the average of the players.
func (m *match) near(all []object, region string) bool {
	for _, r := range all {
		if r["maxDistance"] == nil {
			continue
		}
		var of []*big.Rat
		for _, t := range m.tickets() {
			for range m.pool[t].players {
				of = append(of, m.latency(r, t, region))
			}
		}
		reference := reduce(r["distanceReference"].(string), of)
		for _, n := range of {
			d := new(big.Rat).Sub(n, reference)
			if !within(d.Abs(d), nil, m.of(r, "maxDistance")) {
				return false
			}
		}
	}
	return true
}

func reduce(how string, of []*big.Rat) *big.Rat {
	of = slices.SortedFunc(slices.Values(of), (*big.Rat).Cmp)
	sum := new(big.Rat)
	for _, n := range of {
		sum.Add(sum, n)
	}
	switch how {
	case "min":
		return of[0]
	case "max":
		return of[len(of)-1]
	case "sum":
		return sum
	case "median":
		middle := new(big.Rat).Add(of[(len(of)-1)/2], of[len(of)/2])
		return middle.Quo(middle, big.NewRat(2, 1))
	case "avg":
		return sum.Quo(sum, big.NewRat(int64(len(of)), 1))
	}
	panic(how)
}

// value is an attribute of a player, or what the party's values are aggregated to.
func (m *match) value(t, i int, attribute string) any {
	var numbers []*big.Rat
	var lists []any
	for _, p := range m.pool[t].players {
		has := p.attributes[attribute]
		for _, a := range list(m.set["playerAttributes"]) {
			if a := a.(object); has == nil && a["name"] == attribute {
				has = a["default"]
			}
		}
		switch has := has.(type) {
		case json.Number:
			numbers = append(numbers, number(has))
		case []string:
			var one []any
			for _, s := range has {
				one = append(one, s)
			}
			lists = append(lists, one)
		case []any:
			lists = append(lists, has)
		}
	}
	switch {
	case len(numbers) > 0:
		return reduce(m.party, numbers)
	case len(lists) == 0:
		if has := m.pool[t].players[i].attributes[attribute]; has != nil {
			return has
		}
		for _, a := range list(m.set["playerAttributes"]) {
			if a := a.(object); a["name"] == attribute {
				return a["default"]
			}
		}
	case m.party == "intersection":
		return common(lists)
	}
	var union []any
	for _, one := range lists {
		for _, s := range list(one) {
			if !slices.Contains(union, s) {
				union = append(union, s)
			}
		}
	}
	return union
}

var (
	call = regexp.MustCompile(`^(\w+)\((.*)\)$`)
	path = regexp.MustCompile(`^teams\[([^]]*)\]\.players(?:\.attributes\[(\w+)\])?$`)
)

// eval evaluates a property expression.
func (m *match) eval(text string) any {
	if c := call.FindStringSubmatch(text); c != nil {
		return apply(c[1], m.eval(c[2]).([]any))
	}
	p := path.FindStringSubmatch(text)
	if p == nil {
		panic(text)
	}
	var teams []any
	names := strings.Split(p[1], ",")
	for i, s := range m.flexmatch.sides {
		if p[1] != "*" && !slices.Contains(names, s.base) && !slices.Contains(names, s.name) {
			continue
		}
		players := []any{}
		for _, t := range m.sides[i] {
			for n := range m.pool[t].players {
				if p[2] == "" {
					players = append(players, "a player")
				} else {
					players = append(players, m.value(t, n, p[2]))
				}
			}
		}
		teams = append(teams, players)
	}
	if len(teams) == 1 && p[1] != "*" {
		return teams[0]
	}
	return teams
}

// apply applies a function. "All operations on a nested list operate on each sublist individually to produce a list of
// results."
func apply(name string, of []any) any {
	if name == "flatten" {
		all := []any{}
		for _, one := range of {
			all = append(all, list(one)...)
		}
		return all
	}
	if len(of) > 0 {
		if _, nested := of[0].([]any); nested {
			all := []any{}
			for _, one := range of {
				all = append(all, apply(name, list(one)))
			}
			return all
		}
	}
	if name == "count" {
		return big.NewRat(int64(len(of)), 1)
	}
	var numbers []*big.Rat
	for _, one := range of {
		numbers = append(numbers, one.(*big.Rat))
	}
	return reduce(name, numbers)
}

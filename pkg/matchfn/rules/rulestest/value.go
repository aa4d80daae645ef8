package rulestest

import (
	"maps"
	"slices"

	"matchmaker.dev/pkg/matchfn/rules"
)

// values is what the players of a pool have, by the name of the value and by ticket.
type values struct {
	rules *rules.Rules
	pool  []Ticket
	from  int // tickets from this number on are players in a game
	known map[string][][]any
	used  map[string]bool
	// natural are the values of which negative numbers count as missing.
	natural map[string]bool
}

// of returns the value of each player of a ticket, nil for those without.
func (v *values) of(name string, ticket int) []any {
	all := v.known[name]
	if all == nil {
		all = make([][]any, len(v.pool))
		if v.known == nil {
			v.known = map[string][][]any{}
		}
		v.known[name] = all
	}
	if all[ticket] == nil {
		var only []string
		if name == v.rules.RegionValue {
			only = v.rules.RegionNames
		}
		all[ticket] = v.valuesOf(*v.rules.ValueOf(name), v.pool[ticket], only)
		if v.hidden(name, ticket) {
			all[ticket] = make([]any, len(v.pool[ticket].Players))
		}
	}
	return all[ticket]
}

// hidden reports whether a value is not known of a ticket: which roles and latencies the players in a game have.
func (v *values) hidden(name string, ticket int) bool {
	return ticket >= v.from && (name == v.rules.RoleValue || name == v.rules.RegionValue)
}

// lacks returns a value that a ticket lacks and must have.
func (v *values) lacks(ticket int) string {
	if v.used == nil {
		v.used = rules.Used(v.rules)
	}
	for _, value := range v.rules.Values {
		if !v.used[value.Name] || value.Missing != rules.Reject || v.hidden(value.Name, ticket) {
			continue
		}
		for _, p := range v.pool[ticket].Players {
			if v.typed(value, p[value.From]) == nil {
				return value.Name
			}
		}
	}
	return ""
}

// valuesOf returns the value of each player of a ticket, nil for those without. Of maps only some names count, unless
// that is nil.
func (v *values) valuesOf(value rules.Value, t Ticket, only []string) []any {
	values := make([]any, len(t.Players))
	for i, p := range t.Players {
		values[i] = v.typed(value, p[value.From])
		if m, is := values[i].(map[string]float64); is && only != nil {
			m = maps.Clone(m)
			maps.DeleteFunc(m, func(name string, _ float64) bool { return !slices.Contains(only, name) })
			values[i] = m
		}
	}
	if value.Party == rules.Each {
		return values
	}
	merged := merge(value, values)
	for i := range values {
		values[i] = merged
	}
	return values
}

// typed is a player's value if it is of the kind that the rules say, else its default, if any.
func (v *values) typed(value rules.Value, raw any) any {
	if v.natural == nil {
		v.natural = rules.Natural(v.rules)
	}
	switch raw := raw.(type) {
	case float64:
		if value.Kind == rules.Number && (raw >= 0 || !v.natural[value.Name]) {
			return raw
		}
	case string:
		if value.Kind == rules.String {
			return raw
		}
	case []string:
		if value.Kind == rules.Set {
			return raw
		}
	case map[string]float64:
		if value.Kind == rules.Map && v.natural[value.Name] {
			raw = maps.Clone(raw)
			maps.DeleteFunc(raw, func(_ string, n float64) bool { return n < 0 })
		}
		if value.Kind == rules.Map {
			return raw
		}
	}
	if value.Missing != rules.UseDefault {
		return nil
	}
	switch value.Kind {
	case rules.Number:
		return value.Default.Number
	case rules.String:
		return value.Default.String
	case rules.Set:
		return value.Default.Set
	}
	return value.Default.Map
}

func merge(v rules.Value, values []any) any {
	var numbers []float64
	var sets [][]string
	var maps []map[string]float64
	for _, value := range values {
		switch value := value.(type) {
		case float64:
			numbers = append(numbers, value)
		case []string:
			sets = append(sets, value)
		case map[string]float64:
			maps = append(maps, value)
		}
	}
	switch {
	case len(numbers) > 0:
		return mergeNumbers(v.Party, numbers)
	case len(sets) > 0:
		return mergeSets(v.Party, sets)
	case len(maps) > 0:
		merged := map[string]float64{}
		for name := range maps[0] {
			var of []float64
			for _, m := range maps {
				if n, ok := m[name]; ok {
					of = append(of, n)
				}
			}
			if len(of) == len(maps) {
				merged[name] = mergeNumbers(v.Party, of)
			}
		}
		return merged
	}
	return nil
}

func mergeNumbers(how rules.Merge, numbers []float64) float64 {
	stat := map[rules.Merge]rules.Stat{
		rules.Average: rules.StatAverage, rules.Least: rules.StatMin, rules.Greatest: rules.StatMax, rules.Sum: rules.StatSum,
	}[how]
	return reduce(stat, numbers)[0]
}

func mergeSets(how rules.Merge, sets [][]string) []string {
	merged := slices.Clone(sets[0])
	for _, set := range sets[1:] {
		if how == rules.Union {
			merged = append(merged, set...)
		} else {
			merged = slices.DeleteFunc(merged, func(s string) bool { return !slices.Contains(set, s) })
		}
	}
	slices.Sort(merged)
	return slices.Compact(merged)
}

// setOf is a set, or a string as a set of one.
func setOf(value any) []string {
	switch value := value.(type) {
	case string:
		return []string{value}
	case []string:
		return value
	}
	return nil
}

// common is how many different elements two sets have in common.
func common(a, b []string) []string { return mergeSets(rules.Intersection, [][]string{a, b}) }

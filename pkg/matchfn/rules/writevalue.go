package rules

import (
	"maps"
	"slices"
)

func listOf(texts []string) []any {
	list := []any{}
	for _, t := range texts {
		list = append(list, t)
	}
	return list
}

func valueOf(v Value) any {
	o := object{{"type", string(v.Kind)}}
	if v.From != v.Name {
		o.add("from", v.From)
	}
	if v.Party != Each {
		o.add("party", string(v.Party))
	}
	if v.Once {
		o.add("once", true)
	}
	switch v.Missing {
	case Any:
		o.add("missing", string(v.Missing))
	case UseDefault:
		o.add("default", datumOf(v))
	}
	if len(o) == 1 {
		return string(v.Kind)
	}
	return o
}

func datumOf(v Value) any {
	switch v.Kind {
	case String:
		return v.Default.String
	case Set:
		return listOf(v.Default.Set)
	case Map:
		o := object{}
		for _, name := range slices.Sorted(maps.Keys(v.Default.Map)) {
			o.add(name, v.Default.Map[name])
		}
		return o
	}
	return v.Default.Number
}

func teamOf(t Team) object {
	o := object{{"name", t.Name}}
	if copies, ok := spanOf(t.Copies).(float64); !ok || copies != 1 {
		o.add("copies", spanOf(t.Copies))
	}
	o.add("size", spanOf(t.Size))
	roles := object{}
	for _, role := range t.Roles {
		if role.Count.Min == nil && role.Count.Max == nil {
			roles.add(role.Name, nil)
		} else {
			roles.add(role.Name, spanOf(role.Count))
		}
	}
	o.object("roles", roles)
	return o
}

func number(n float64, off bool) any {
	if off {
		return nil
	}
	return n
}

func boundOf(b *Bound) any {
	if b.Constant() && !b.Off && b.Clock == Oldest {
		return b.Start
	}
	o := object{{"start", number(b.Start, b.Off)}}
	if l := b.Linear; l != nil {
		o.add("grow", l.Delta)
		if l.Every > 0 {
			o.add("every", l.Every)
		}
		o.add("until", l.Limit)
	}
	if len(b.Steps) > 0 {
		steps := []any{}
		for _, s := range b.Steps {
			steps = append(steps, []any{s.After, number(s.Value, s.Off)})
		}
		o.add("steps", steps)
	}
	if b.Clock != Oldest {
		o.add("clock", string(b.Clock))
	}
	return o
}

func spanOf(s Range) any {
	if s.Min != nil && s.Max != nil {
		least, greatest := boundOf(s.Min), boundOf(s.Max)
		if n, ok := least.(float64); ok && greatest == least {
			return n
		}
	}
	o := object{}
	o.bound("min", s.Min)
	o.bound("max", s.Max)
	return o
}

func (o *object) scope(s Scope) {
	switch s.Of {
	case InTeam, BesideAnchor:
		o.add("in", string(s.Of))
	case InTeams:
		o.add("in", listOf(s.Teams))
	}
}

func orderOf(order Order) object {
	o := object{}
	if order.Near {
		o.add("near", order.Value)
	} else {
		o.add("by", order.Value)
	}
	o.text("key", order.Key)
	o.text("keyOf", string(order.KeyOf))
	if order.Descending {
		o.add("descending", true)
	}
	return o
}

package rules

func listOf(texts []string) []any {
	list := []any{}
	for _, t := range texts {
		list = append(list, t)
	}
	return list
}

func valueOf(v Value) any {
	o := object{{"type", v.Kind}}
	if v.From != v.Name {
		o.add("from", v.From)
	}
	if v.Party != Each {
		o.add("party", v.Party)
	}
	if v.Once {
		o.add("once", true)
	}
	switch v.Missing {
	case Any:
		o.add("missing", v.Missing)
	case UseDefault:
		o.add("default", datumOf(v))
	}
	if len(o) == 1 {
		return v.Kind
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
		if v.Default.Map == nil {
			return map[string]float64{}
		}
		return v.Default.Map
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
		o.add("clock", b.Clock)
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
		o.add("in", s.Of)
	case InTeams:
		o.add("in", listOf(s.Teams))
	}
}

func latencyOf(c *Latency) object {
	o := object{}
	o.bound("max", c.Max)
	o.bound("over", c.Over)
	if c.Apart != nil {
		o.bound("apart", c.Apart)
		o.add("apartFrom", c.From)
	}
	return o
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

func conditionOf(need Condition) object {
	o := object{}
	switch c := need.(type) {
	case *Same:
		name := "same"
		if c.Different {
			name = "different"
		}
		o.add(name, c.Value)
		o.scope(c.Scope)
	case *Spread:
		o.add("spread", c.Value)
		o.bound("max", c.Max)
		o.scope(c.Scope)
	case *Share:
		o.add("share", c.Value)
		o.bound("min", c.Min)
		o.scope(c.Scope)
	case *Overlap:
		o.add("overlap", c.Value)
		if c.Other != "" {
			o.add(string(c.Merge), c.Other)
		} else {
			o.add("with", listOf(c.With))
		}
		o.add("count", spanOf(c.Count))
		o.scope(c.Scope)
	case *Holders:
		o = object{{"holders", c.Value}, {"of", c.Element}, {"count", spanOf(c.Count)}}
		o.scope(c.Scope)
	case *Total:
		o = object{{"total", c.Value}, {"sum", spanOf(c.Sum)}}
		o.scope(c.Scope)
	case *Gap:
		gapOf(&o, c)
	case *Compare:
		o.add("compare", []any{expressionOf(c.Left), c.Op, expressionOf(c.Right)})
	case *Latency:
		o = append(object{{"latency", c.Value}}, latencyOf(c)...)
	case *Avoid:
		o = object{{"avoid", c.Value}, {"id", c.ID}}
		o.scope(c.Scope)
	case *Premade:
		o.bound("premade", c.Players)
	case *All:
		o.add("all", conditionsOf(c.Of))
	case *AnyOf:
		o.add("any", conditionsOf(c.Of))
	case *One:
		o.add("one", conditionsOf(c.Of))
	case *Not:
		o.add("not", conditionOf(c.Of))
	}
	return o
}

func gapOf(o *object, c *Gap) {
	if c.Value == "" {
		o.add("gap", string(c.Stat))
	} else {
		o.add("gap", c.Value)
		o.add("stat", c.Stat)
	}
	o.bound("max", c.Max)
	if c.Teams != nil {
		o.add("in", listOf(c.Teams))
	}
}

func conditionsOf(of []Condition) []any {
	list := []any{}
	for _, c := range of {
		list = append(list, conditionOf(c))
	}
	return list
}

func expressionOf(e Expression) any {
	o := object{}
	switch e := e.(type) {
	case *Literal:
		return boundOf(e.Bound)
	case *StatOf:
		value := e.Value
		if value == "" {
			value = "players"
		}
		o.add(string(e.Stat), value)
		o.scope(e.Scope)
	case *Reduce:
		of := expressionOf(e.Of)
		if _, literal := of.(object); !literal {
			of = object{{"start", of}}
		}
		o.add(string(e.Stat), of)
	case *Arithmetic:
		for _, operation := range operations {
			if operation.op == e.Op {
				o.add(operation.name, []any{expressionOf(e.Left), expressionOf(e.Right)})
			}
		}
	case *Abs:
		o.add("abs", expressionOf(e.Of))
	case *LatencyOf:
		o.add("latency", e.Value)
	case *Reluctance:
		o.add("reluctance", "players")
		o.scope(e.Scope)
	case *OddsOf:
		o.add(string(e.Odds), e.Value)
		o.text("deviation", e.Deviation)
		o.add("beta", e.Beta)
	}
	return o
}

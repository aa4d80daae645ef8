package rules

import "matchmaker.dev/pkg/matchfn/rules/document"

// Latency bounds the players' latency to the region of the match: by Max, by their own least latency and Over, and by
// Spread over the least or the mean latency of the players to that region.
type Latency struct {
	Value            string
	Max, Over, Apart *Bound
	From             Merge // of Apart: Least or Average
}

func readLatency(r *reader, n, subject *document.Node) Condition {
	c := r.latency(n, r.text(subject, ""))
	if c.Max == nil && c.Over == nil && c.Apart == nil {
		r.fail(n, "must have one of max, over, apart")
	}
	return c
}

func (c *Latency) written() object { return append(object{{"latency", c.Value}}, c.bounds()...) }

// bounds are the members beside the value.
func (c *Latency) bounds() object {
	o := object{}
	o.bound("max", c.Max)
	o.bound("over", c.Over)
	if c.Apart != nil {
		o.bound("apart", c.Apart)
		o.add("apartFrom", string(c.From))
	}
	return o
}

func (c *Latency) check(k *checker, path string) {
	if k.rules.RegionValue == "" {
		k.add(path, "a match has a region only if the rules have regions")
	}
	k.value(path, c.Value, Map)
	for _, b := range []struct {
		name string
		*Bound
	}{{".max", c.Max}, {".over", c.Over}, {".apart", c.Apart}} {
		if b.Bound != nil {
			k.limit(path+b.name, b.Bound)
		}
	}
}

func (*Latency) fate(*checker, string) (fate, Problem) { return open, Problem{} }

func (c *Latency) parts() parts { return parts{values: []string{c.Value}} }

func (c *Latency) words() string {
	var parts []string
	if c.Max != nil {
		parts = append(parts, "at most "+bound(c.Max))
	}
	if c.Over != nil {
		parts = append(parts, "at most "+bound(c.Over)+" more than to the player's best region")
	}
	if c.Apart != nil {
		from := "the least of all players"
		if c.From == Average {
			from = "the mean of all players"
		}
		parts = append(parts, "at most "+bound(c.Apart)+" more than "+from)
	}
	return "each player's " + quoted(c.Value) + " to the region is " + list(parts, "and")
}

package invocation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/pkg/matchfn/rules/document"
	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/pool"
	"matchmaker.dev/services/internal/sandbox"
)

// mostColumns is how many attributes, and how many properties, a function gets that declares none, beside those that
// its config names: those that most tickets of its pools have. Players may put any names into a ticket, and each name
// is a column for all tickets.
const mostColumns = 64

// Needs is which attributes and properties of tickets a function declares.
type Needs struct {
	allAttributes, allProperties bool
	attributes, properties       []string // in order, each once
	// settings that name more of them
	attributeSettings, propertySettings []string
	players                             *block.PlayerManifest
	// parsed is set if settings name anything.
	parsed bool
	// named is nil for a function that names no more for the settings of each config.
	named *named
}

// NeedsOf is the needs that a manifest declares.
func NeedsOf(m sandbox.Manifest) Needs {
	n := Needs{
		allAttributes: m.EveryAttribute(), attributes: distinct(m.Attributes), attributeSettings: m.AttributeSettings,
		allProperties: m.EveryProperty(), properties: distinct(m.Properties), propertySettings: m.PropertySettings,
	}
	n.parsed = n.allAttributes || n.allProperties || len(m.AttributeSettings)+len(m.PropertySettings) > 0
	if m.Players != nil {
		p := *m.Players
		p.Attributes, p.Properties = distinct(p.Attributes), distinct(p.Properties)
		n.players = &p
		n.parsed = n.parsed || len(p.AttributeSettings)+len(p.PropertySettings)+len(p.IDSettings) > 0
	}
	if m.Columns {
		n.named = &named{of: map[string]block.Columns{}}
	}
	return n
}

// names is what a config and its function's manifest name together.
type names struct {
	// attributes and properties are sorted. A function that declares none gets all that tickets have.
	attributes, properties []string
	// filters are the attributes of the filters of the run's pools.
	filters []string
}

// parse returns settings for of and for players.name. They are nil if they name nothing.
func (n *Needs) parse(settings []byte) *document.Node {
	if !n.parsed {
		return nil
	}
	root, _ := document.Parse(settings)
	return root
}

// of returns what a run names, with what the function names for its settings. A function that declares more than it may
// have is an error.
func (n *Needs) of(r *pb.RunRequest, settings *document.Node, c block.Columns) (names, error) {
	var is names
	for _, pools := range []map[string]*pb.Pool{r.GetPools(), r.GetCensus()} {
		for _, p := range pools {
			for _, f := range p.GetFilters() {
				if f.GetCount() == "" {
					is.filters = append(is.filters, f.GetAttribute())
				}
			}
		}
	}
	is.filters = distinct(is.filters)
	is.attributes = withNamed(n.attributes, settings, n.attributeSettings, c.Attributes)
	is.properties = withNamed(n.properties, settings, n.propertySettings, c.Properties)
	for what, list := range map[string][]string{"attributes": is.attributes, "properties": is.properties} {
		if len(list) > max(block.MaxNames, len(n.attributes), len(n.properties)) {
			return names{}, FunctionError{fmt.Errorf("the function declares %d %s together with those that its settings name, "+
				"at most %d are allowed", len(list), what, block.MaxNames)}
		}
	}
	if !n.allAttributes && !n.allProperties {
		return is, nil
	}
	strings := block.Strings(settings, maxStrings)
	if n.allAttributes {
		is.attributes = slices.Concat(c.Attributes, is.filters, strings)
		is.attributes = distinct(is.attributes[:min(len(is.attributes), maxStrings)])
	}
	if n.allProperties {
		is.properties = distinct(slices.Concat(c.Properties, strings))
	}
	return is, nil
}

// maxStrings is how many strings of settings may be names. Only the first block.MaxNames that tickets have count.
const maxStrings = 4 * block.MaxNames

// distinct returns names sorted, and each once.
func distinct(names []string) []string { return slices.Compact(slices.Sorted(slices.Values(names))) }

// withNamed returns names, those that settings name and more, sorted and each once.
func withNamed(names []string, settings *document.Node, paths, more []string) []string {
	if len(paths)+len(more) == 0 {
		return names
	}
	return distinct(slices.Concat(names, block.Named(settings, paths), more))
}

// LeftOut is what a function that declares nothing did not get: how many names, at least, and some of them.
type LeftOut struct {
	Attributes, Properties         int
	someAttributes, someProperties []string
}

// Any reports whether something was left out.
func (l *LeftOut) Any() bool { return l.Attributes+l.Properties > 0 }

// String says what was left out, for the function's log.
func (l *LeftOut) String() string {
	var kinds []string
	for _, k := range []struct {
		n    int
		what string
		some []string
	}{{l.Attributes, "attributes", l.someAttributes}, {l.Properties, "properties", l.someProperties}} {
		if k.n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %s of its tickets (%s)", k.n, k.what, listed(k.some, k.n)))
		}
	}
	return "the function does not get " + strings.Join(kinds, " and ") + ": declare in its manifest what it reads"
}

// listed names some of n names. Players choose them, so they are cut and quoted.
func listed(some []string, n int) string {
	const longest = 40
	var b strings.Builder
	for i, name := range some {
		if i > 0 {
			b.WriteString(", ")
		}
		if len(name) > longest {
			name = strings.ToValidUTF8(name[:longest], "") + "…"
		}
		fmt.Fprintf(&b, "%q", name)
	}
	if n > len(some) {
		b.WriteString(", …")
	}
	return b.String()
}

// columns are the columns of tickets or of backfill tickets in a request.
type columns struct {
	attributes, properties []string // sorted
	lengths                []int    // of the values of each property in all, in bytes
	slow                   []string // attributes that have no column in the index yet
}

// choose chooses the columns for a selection, and adds what is left out.
func (c *columns) choose(v pool.View, s *pool.Selection, n Needs, is names, w *pool.Work, left *LeftOut) {
	c.attributes, c.properties, c.slow = is.attributes, is.properties, c.slow[:0]
	if n.allAttributes {
		wanted := setOf(is.attributes)
		got := v.Attributes(s, wanted, mostColumns)
		c.attributes = merge(wanted, got.Most)
		c.slow = v.WithoutColumn(got.Most)
		left.Attributes += got.Left
		left.someAttributes = append(left.someAttributes, got.Some...)
	}
	if n.allProperties {
		wanted := setOf(is.properties)
		got := s.PropertyNames(w, wanted, mostColumns)
		c.properties = merge(wanted, got.Most)
		left.Properties += got.Left
		left.someProperties = append(left.someProperties, got.Some...)
	}
}

// merge returns the wanted names that were found, at most block.MaxNames, and others, sorted.
func merge(wanted map[string]bool, others []string) []string {
	found := make([]string, 0, len(wanted)+len(others))
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if wanted[name] && len(found) < block.MaxNames {
			found = append(found, name)
		}
	}
	found = append(found, others...)
	slices.Sort(found)
	return found
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = false
	}
	return set
}

// measure computes how long the values of the properties are.
func (c *columns) measure(s *pool.Selection, w *pool.Work) {
	c.lengths = append(c.lengths[:0], make([]int, len(c.properties))...)
	c.each(s, w, func(_, column int, value string) { c.lengths[column] += len(value) })
}

// each calls f with every value of the properties: with the number of its ticket and the place of the property. It
// takes time in proportion to the properties that tickets have, not to names times tickets.
func (c *columns) each(s *pool.Selection, w *pool.Work, f func(number, column int, value string)) {
	if len(c.properties) == 0 {
		return
	}
	at := make(map[string]int, len(c.properties))
	for i, name := range c.properties {
		at[name] = i + 1
	}
	// Most tickets have the same properties as the one before, and share the strings of their names.
	type known struct {
		name   string
		column int
	}
	var before []known
	for number := range s.N() {
		if number%lateStep == 0 && w.Late() {
			return
		}
		list := s.Properties(number)
		w.Count(len(list))
		for i, p := range list {
			if i == len(before) {
				before = append(before, known{p.Name, at[p.Name]})
			} else if before[i].name != p.Name {
				before[i] = known{p.Name, at[p.Name]}
			}
			if column := before[i].column; column > 0 {
				f(number, column-1, p.Value)
			}
		}
	}
}

// lateStep is after how many tickets a loop looks at the time, and lateColumns after how many columns of properties.
const (
	lateStep    = 4096
	lateColumns = 8
)

// add adds the columns and pools of n tickets to the size of a request.
func (c *columns) add(size *block.RequestSize, s *pool.Selection, pools map[string]*pb.Pool) {
	n := s.N()
	for _, name := range c.attributes {
		size.Column(name, n, 0)
	}
	for i, name := range c.properties {
		size.Column(name, n, c.lengths[i])
	}
	for name := range pools {
		size.Numbers(name, len(s.Pool(name)))
	}
}

// writeAttributes writes the columns of attributes into a request. Names are sorted here and in writeRest, so that the
// same state makes the same bytes.
func (c *columns) writeAttributes(v pool.View, s *pool.Selection, w *pool.Work, b *block.RequestBuilder, kind uint32) {
	for _, name := range c.attributes {
		if w.Late() {
			return
		}
		v.Column(s, name, b.Numbers(kind, name))
	}
}

// writeRest writes the columns of properties and the pools into a request. It needs no view: a selection keeps them.
func (c *columns) writeRest(
	s *pool.Selection, w *pool.Work, pools map[string]*pb.Pool,
	b *block.RequestBuilder, property, kind uint32,
) {
	if len(c.properties) > 0 {
		w.Count(s.N() * len(c.properties))
		values := propertyColumns(w, b, property, c.properties, c.lengths)
		if w.Late() {
			return
		}
		c.each(s, w, func(number, column int, value string) { values[column].Set(number, value) })
	}
	for _, name := range slices.Sorted(maps.Keys(pools)) {
		numbers := s.Pool(name)
		w.Count(len(numbers))
		copy(b.Members(kind, name, len(numbers)), numbers)
	}
}

// propertyColumns adds the columns of properties whose values have these lengths in all; fewer once the run is late.
func propertyColumns(
	w *pool.Work, b *block.RequestBuilder, kind uint32, names []string, lengths []int,
) (values []block.ValueColumn) {
	for at := 0; at < len(names) && !w.Late(); at += lateColumns {
		end := min(at+lateColumns, len(names))
		values = append(values, b.Columns(kind, names[at:end], lengths[at:end])...)
	}
	return values
}

package flexmatch

import (
	"slices"

	"matchmaker.dev/pkg/matchfn/dialects/lenient"
	"matchmaker.dev/pkg/matchfn/rules"
	"matchmaker.dev/pkg/matchfn/rules/document"
)

// rule reads a rule. The rules that it names are before it in the file.
func (r *reader) rule(n *document.Node) *Rule {
	o := r.Object(n)
	rule := &Rule{Name: o.Name("name"), Description: o.Text("", "description"), At: n}
	if r.names[rule.Name] != nil {
		r.Fail(n, "there is another rule %q", rule.Name)
	}
	rule.Type = o.Word("type", "", "comparison", "distance", "collection", "latency", "batchDistance", "distanceSort",
		"absoluteSort", "compound")
	switch rule.Type {
	case "comparison":
		r.comparison(o, rule)
	case "distance":
		r.distance(o, rule)
	case "collection":
		r.collection(o, rule)
	case "latency":
		r.latency(o, rule)
	case "batchDistance":
		r.batchDistance(o, rule)
	case "distanceSort", "absoluteSort":
		r.sort(o, rule)
	case "compound":
		r.compound(o, rule)
	}
	o.Done()
	r.names[rule.Name] = rule
	return rule
}

func (r *reader) param(o *lenient.Object, name string) Param {
	n := o.Get(name)
	return Param{Value: r.Number(n), At: n}
}

func (r *reader) numberAggregation(o *lenient.Object) string {
	return o.Word("partyAggregation", "avg", "avg", "min", "max")
}

func (r *reader) expr(n *document.Node) *Expr {
	e, err := parseExpression(r.Text(n), &r.scope, 0)
	if err != nil {
		r.Fail(n, "%v", err)
		return nil
	}
	return e
}

// measurements reads the expressions of a rule.
func (r *reader) measurements(o *lenient.Object, rule *Rule) {
	nodes := o.List(rules.MaxTeams, "measurements")
	if len(nodes) == 0 {
		r.Fail(o.Node, "%q is missing", "measurements")
	}
	for _, n := range nodes {
		if e := r.expr(n); e != nil {
			rule.Measurements = append(rule.Measurements, e)
		}
	}
}

// reference reads what a rule compares with. Numbers may be in strings, so a string is a number where numbers are
// compared.
func (r *reader) reference(o *lenient.Object, numbers bool) *Reference {
	n := o.Get("referenceValue")
	if n == nil {
		return nil
	}
	ref := &Reference{At: n}
	switch {
	case n.Kind == document.String && isExpression(n.Text):
		ref.Expr = r.expr(n)
		if ref.Expr != nil && ref.Expr.Elem != Numbers && numbers {
			r.Fail(n, "it has %s, and numbers are compared", ref.Expr.Elem)
		}
	case n.Kind == document.Number || n.Kind == document.String && numbers:
		ref.Number = &Param{Value: r.Number(n), At: n}
	case n.Kind == document.String:
		ref.Text = r.Value(n)
	case n.Kind == document.List && len(n.Elements) <= rules.MaxElements:
		ref.Texts = r.Values(n.Elements)
	default:
		r.Fail(n, "an expression, a number or a string is expected, or a list of at most %d strings", rules.MaxElements)
	}
	return ref
}

// elem checks that the measurements are of one kind of elements, and returns it.
func (r *reader) elem(rule *Rule, allowed ...Elem) Elem {
	var first Elem
	for _, m := range rule.Measurements {
		if first != "" && first != m.Elem || !slices.Contains(allowed, m.Elem) {
			r.Fail(rule.At, "the measurement %q is of %s, which a %s rule cannot measure here", m, m.Elem, rule.Type)
		}
		first = m.Elem
	}
	return first
}

func (r *reader) comparison(o *lenient.Object, rule *Rule) {
	r.measurements(o, rule)
	elem := r.elem(rule, Numbers, Strings)
	rule.Operation = o.Word("operation", "", "=", "!=", "<", "<=", ">", ">=")
	rule.Reference = r.reference(o, elem == Numbers)
	rule.Aggregation = r.numberAggregation(o)
	equality := rule.Operation == "=" || rule.Operation == "!="
	switch {
	case rule.Reference == nil && !equality:
		r.Fail(o.Node, "%q is missing: only = and != compare players with each other", "referenceValue")
	case elem == Strings && !equality:
		r.Fail(o.Node, "strings are compared by = and != only")
	case elem == Strings && rule.Reference != nil && rule.Reference.Number != nil:
		r.Fail(rule.Reference.At, "it is a number, and strings are compared")
	case rule.Reference != nil && rule.Reference.Texts != nil:
		r.Fail(rule.Reference.At, "it is a list, and values are compared")
	}
}

func (r *reader) distance(o *lenient.Object, rule *Rule) {
	r.measurements(o, rule)
	r.elem(rule, Numbers)
	rule.Reference = r.reference(o, true)
	rule.MinDistance, rule.MaxDistance = r.param(o, "minDistance"), r.param(o, "maxDistance")
	rule.Aggregation = r.numberAggregation(o)
	switch {
	case rule.Reference == nil:
		r.Fail(o.Node, "%q is missing", "referenceValue")
	case rule.Reference.Expr == nil && rule.Reference.Number == nil:
		r.Fail(rule.Reference.At, "an expression or a number is expected")
	case !rule.MinDistance.Set() && !rule.MaxDistance.Set():
		r.Fail(o.Node, "%q or %q is missing", "minDistance", "maxDistance")
	}
}

func (r *reader) collection(o *lenient.Object, rule *Rule) {
	r.measurements(o, rule)
	rule.Operation = o.Word("operation", "", "intersection", "contains", "reference_intersection_count")
	elem := r.elem(rule, Strings, Numbers)
	rule.Reference = r.reference(o, elem == Numbers)
	rule.MinCount, rule.MaxCount = r.param(o, "minCount"), r.param(o, "maxCount")
	rule.Aggregation = o.Word("partyAggregation", "union", "union", "intersection")
	if !rule.MinCount.Set() && !rule.MaxCount.Set() {
		rule.MinCount, rule.Uncounted = Param{Value: 1, At: rule.At}, true
	}
	switch {
	case rule.Operation == "intersection" && rule.Reference != nil:
		r.Fail(rule.Reference.At, "the operation intersection has no reference")
	case rule.Operation != "intersection" && rule.Reference == nil:
		r.Fail(o.Node, "%q is missing: the operation %s needs it", "referenceValue", rule.Operation)
	case rule.Operation == "contains" && (rule.Reference.Expr != nil || rule.Reference.Texts != nil):
		r.Fail(rule.Reference.At, "the operation contains looks for one value")
	case rule.Operation == "reference_intersection_count" && rule.Reference.Number != nil:
		r.Fail(rule.Reference.At, "a list of strings is expected, or an expression of one")
	}
}

func (r *reader) latency(o *lenient.Object, rule *Rule) {
	rule.MaxLatency, rule.MaxDistance = r.param(o, "maxLatency"), r.param(o, "maxDistance")
	rule.Aggregation = r.numberAggregation(o)
	if rule.MaxDistance.Set() {
		rule.DistanceReference = o.Word("distanceReference", "", "min", "avg")
	} else if rule.DistanceReference = o.Text("", "distanceReference"); rule.DistanceReference != "" {
		r.Fail(o.Node, "%q is missing: distanceReference needs it", "maxDistance")
	}
	if !rule.MaxLatency.Set() && !rule.MaxDistance.Set() {
		r.Fail(o.Node, "%q is missing", "maxLatency")
	}
}

func (r *reader) batchDistance(o *lenient.Object, rule *Rule) {
	rule.Attribute = r.attributeOf(o.Need("batchAttribute"), "")
	rule.MaxDistance = r.param(o, "maxDistance")
	rule.Aggregation = r.numberAggregation(o)
	switch kind := r.scope.attributes[rule.Attribute]; {
	case kind == "number" && !rule.MaxDistance.Set():
		r.Fail(o.Node, "%q is missing: numbers need it", "maxDistance")
	case kind == "string" && rule.MaxDistance.Set():
		r.Fail(rule.MaxDistance.At, "strings have no distance: all must be equal")
	case kind == "string_list" || kind == "string_number_map":
		r.Fail(o.Node, "the player attribute %q is a %s, and a number or a string is expected", rule.Attribute, kind)
	}
}

func (r *reader) sort(o *lenient.Object, rule *Rule) {
	rule.Direction = o.Word("sortDirection", "", "ascending", "descending")
	rule.Attribute = r.attributeOf(o.Need("sortAttribute"), "")
	if lenient.Member(o.Node, "mapKey") != nil {
		rule.MapKey = o.Word("mapKey", "", "minValue", "maxValue")
	}
	rule.Aggregation = r.numberAggregation(o)
	switch kind := r.scope.attributes[rule.Attribute]; {
	case kind == "string_number_map" && rule.MapKey == "":
		r.Fail(o.Node, "%q is missing: the player attribute %q is a map", "mapKey", rule.Attribute)
	case kind == "string" || kind == "string_list":
		r.Fail(o.Node, "the player attribute %q is a %s, and a number or a map of numbers is expected",
			rule.Attribute, kind)
	}
}

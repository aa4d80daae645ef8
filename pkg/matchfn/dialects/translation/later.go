package translation

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"matchmaker.dev/pkg/matchfn/rules"
)

// mostAges is how many ages are looked at, of those at which bounds change the last.
const mostAges = 32

// later says from which age of its tickets on no match is possible, if there is one.
func (b *Builder) later() {
	times := map[float64]bool{}
	then := func(age float64) *rules.Rules {
		return at(reflect.ValueOf(b.Rules), age, times).Interface().(*rules.Rules)
	}
	then(0)
	from, problem := -1.0, rules.Problem{}
	ages := slices.Sorted(maps.Keys(times))
	ages = ages[max(0, len(ages)-mostAges):]
	for _, age := range slices.Backward(ages) {
		r := then(age)
		r.Rules = slices.DeleteFunc(r.Rules, func(rule rules.Rule) bool {
			return rule.Active != nil && (rule.Active.Off || rule.Active.Start == 0)
		})
		problems := rules.Check(r)
		if len(problems) == 0 {
			break
		}
		from, problem = age, problems[0]
	}
	if from < 0 {
		return
	}
	l, why := b.places.find(problem)
	if l.Verdict = Note; l.Place == "" {
		l.Place, l.Row = "the file", 1
	}
	l.Why = fmt.Sprintf("where all tickets have waited %v s no match is possible: %s", from,
		strings.Replace(why, ", whatever the time", "", 1))
	b.Lines = append(b.Lines, l)
}

// at returns a copy of a value with all bounds as they are at an age, and notes at which ages they change.
func at(v reflect.Value, age float64, times map[float64]bool) reflect.Value {
	if b, ok := v.Interface().(*rules.Bound); ok {
		if b == nil {
			return v
		}
		for _, s := range b.Steps {
			times[s.After] = true
		}
		n, on := b.At(age)
		return reflect.ValueOf(&rules.Bound{Clock: rules.Oldest, Start: n, Off: !on})
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return v
		}
		inner := at(v.Elem(), age, times)
		if v.Kind() == reflect.Interface {
			return inner
		}
		c := reflect.New(v.Type().Elem())
		c.Elem().Set(inner)
		return c
	case reflect.Slice:
		if v.IsNil() {
			return v
		}
		c := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			c.Index(i).Set(at(v.Index(i), age, times))
		}
		return c
	case reflect.Struct:
		c := reflect.New(v.Type()).Elem()
		for i := range v.NumField() {
			c.Field(i).Set(at(v.Field(i), age, times))
		}
		return c
	default:
		return v
	}
}

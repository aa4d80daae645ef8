package definition_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/settings"
)

// TestExceededNamesTheLimit: a config that is beyond a limit says which, for the metrics.
func TestExceededNamesTheLimit(t *testing.T) {
	limits := settings.Default[definition.Limits]()
	pools := func(n, filters int, segmentation string) string {
		filter := `{"attribute":"a","min":0,"max":1` + segmentation + `}`
		one := "[" + strings.TrimSuffix(strings.Repeat(filter+",", filters), ",") + "]"
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("%q:%s", fmt.Sprint("p", i), one))
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	const segments = `,"segmentation":{"distributionType":"Uniform","segmentBehaviorType":"BucketCount","value":250}`
	for want, text := range map[string]string{
		"max-pools": pools(limits.Pools+1, 1, ""), "max-filters": pools(1, limits.Filters+1, ""),
		"segments": pools(1, 2, segments), "": pools(1, 1, `,"unknown":1`),
	} {
		r := definition.NewReader([]byte(text), limits)
		r.Pools("")
		errs, ok := errors.AsType[*definition.FieldErrors](r.Err())
		if !ok {
			t.Errorf("%q: no fault", want)
		} else if got := errs.Exceeded(); got != want {
			t.Errorf("the limit is %q, want %q: %v", got, want, errs)
		}
	}
}

// Settings that are beyond a limit say which, too.
func TestExceededNamesTheLimitOfRules(t *testing.T) {
	for member, want := range map[string]string{"attributes": "attribute-rules", "properties": "property-rules"} {
		var rules []string
		for i := range 257 {
			rules = append(rules, fmt.Sprintf(`"%d":{"setBy":"client"}`, i))
		}
		text := `{"` + member + `":{` + strings.Join(rules, ",") + `}}`
		r := definition.NewReader([]byte(text), settings.Default[definition.Limits]())
		r.ProjectSettings()
		errs, ok := errors.AsType[*definition.FieldErrors](r.Err())
		if !ok {
			t.Errorf("%s: no fault", member)
		} else if got := errs.Exceeded(); got != want {
			t.Errorf("%s: the limit is %q, want %q: %v", member, got, want, errs)
		}
	}
}

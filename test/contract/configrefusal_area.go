package contract

import (
	"net/http"
	"strings"
)

// invalid is an entry of the contract's ValidationErrorResponse.
type invalid struct{ ResultCode, Message string }

// invalid sends a config that must be refused with exactly these errors: pairs of a code and a text in the message.
func (t *trial) invalid(r request, pairs ...string) {
	a := t.send(r)
	if a.status != http.StatusBadRequest || a.header.Get("Content-Type") != "application/json" {
		t.Errorf("%.200s: got %v of %s, want 400 and a list of faults", r.body, a, a.header.Get("Content-Type"))
		return
	}
	var got []invalid
	a.decode(t, &got)
	equal(t, "faults of "+r.body+": "+string(a.body)+": how many", len(got), len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		found := false
		for _, f := range got {
			found = found || f.ResultCode == pairs[i] && strings.Contains(f.Message, pairs[i+1])
		}
		if !found {
			t.Errorf("faults of %.300s: got %s, want %s about %s", r.body, a.body, pairs[i], pairs[i+1])
		}
	}
}

func configRefusals() []requirement {
	body := func(matchmaking, more string) string {
		return `{"matchmaking":{"targetFunction":{"name":"f"}` + matchmaking + `}` + more + `}`
	}
	filter := func(f string) string { return body("", `,"pools":{"main":[`+f+`]}`) }
	segmented := func(s string) string { return filter(`{"attribute":"a","min":0,"max":10,"segmentation":{` + s + `}}`) }
	pools := func(n int) string {
		all := make([]string, n)
		for i := range all {
			all[i] = `"p` + strings.Repeat("x", i) + `":[]`
		}
		return strings.Join(all, ",")
	}
	long := func(n int) string { return strings.Repeat("n", n) }
	table := []struct {
		name, body string
		faults     []string
	}{
		{"max below min", filter(`{"attribute":"a","min":2,"max":1}`), []string{"badFilterRange", "pools.main[0]"}},
		{"no matchmaking", `{}`, []string{"missingMatchmaking", "matchmaking"}},
		{"no target function", `{"matchmaking":{}}`, []string{"missingTargetFunction", "matchmaking.targetFunction"}},
		{"no name of the function", `{"matchmaking":{"targetFunction":{"version":"1"}}}`,
			[]string{"missingTargetFunction", "targetFunction.name"}},
		{"a bad name of the function", `{"matchmaking":{"targetFunction":{"name":"a b"}}}`,
			[]string{"badTargetFunction", "targetFunction.name"}},
		{"a long name", body(`,"name":"`+long(257)+`"`, ""), []string{"badName", "matchmaking.name"}},
		{"control characters in the name", body(`,"name":"a\u0000b"`, ""), []string{"badName", "matchmaking.name"}},
		{"settings that nest too deep", body(`,"config":`+strings.Repeat("[", 33)+strings.Repeat("]", 33), ""),
			[]string{"badFunctionConfig", "matchmaking.config"}},
		{"no attribute", filter(`{"min":1}`), []string{"badFilterAttribute", "pools.main[0].attribute"}},
		{"an empty attribute", filter(`{"attribute":""}`), []string{"badFilterAttribute", "pools.main[0].attribute"}},
		{"a long attribute", filter(`{"attribute":"` + long(129) + `"}`), []string{"badFilterAttribute",
			"pools.main[0].attribute"}},
		{"an empty pool name", body("", `,"pools":{"":[]}`), []string{"badPoolName", "name"}},
		{"a long pool name", body("", `,"pools":{"`+long(129)+`":[]}`), []string{"badPoolName", "name"}},
		{"too many pools", body("", `,"pools":{`+pools(65)+`}`), []string{"tooManyPools", "65"}},
		{"too many filters", filter(strings.TrimSuffix(strings.Repeat(`{"attribute":"a"},`, 65), ",")),
			[]string{"tooManyFilters", "pools.main"}},
		{"min that is a string", filter(`{"attribute":"a","min":"1"}`), []string{"wrongType", "pools.main[0].min"}},
		{"pools that are a list", body("", `,"pools":[]`), []string{"wrongType", "pools"}},
		{"a body that is a list", `[]`, []string{"wrongType", "the body"}},
		{"a body that is null", `null`, []string{"wrongType", "the body"}},
		{"a number out of range", filter(`{"attribute":"a","min":1e999}`), []string{"numberRange", "pools.main[0].min"}},
		{"an unknown member", body(`,"extra":1`, ""), []string{"unknownMember", "matchmaking.extra"}},
		{"a member given twice", body(`,"NAME":"a","name":"b"`, ""), []string{"duplicateMember", "matchmaking.name"}},
		{"a pool given twice", body("", `,"pools":{"p":[],"p":[]}`), []string{"duplicateMember", "pools.p"}},
		{"a key of settings given twice", body(`,"config":{"a":1,"a":2}`, ""),
			[]string{"duplicateMember", "matchmaking.config.a"}},
		{"an unknown word in hosting", body("", `,"hosting":{"OnAllocationError":"Wait"}`),
			[]string{"badHosting", "hosting.OnAllocationError"}},
		{"long hosting data", body("", `,"hosting":{"Secret":"`+long(1025)+`"}`), []string{"badHosting", "hosting.Secret"}},
		{"an unknown distribution", segmented(`"DistributionType":"Bell","SegmentBehaviorType":"BucketCount","Value":2`),
			[]string{"badSegmentation", "DistributionType"}},
		{"an unknown behaviour", segmented(`"DistributionType":"Uniform","SegmentBehaviorType":"Half","Value":2`),
			[]string{"badSegmentation", "SegmentBehaviorType"}},
		{"a value below one", segmented(`"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":0`),
			[]string{"badSegmentation", "Value"}},
		{"a value that is a fraction",
			segmented(`"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":1.5`),
			[]string{"wrongType", "Value"}},
		{"more than all percent",
			segmented(`"DistributionType":"Uniform","SegmentBehaviorType":"TargetPercentage","Value":101`),
			[]string{"badSegmentation", "Value"}},
		{"Normal without Stddev", segmented(`"DistributionType":"Normal","SegmentBehaviorType":"BucketCount","Value":2`),
			[]string{"badSegmentation", "Stddev"}},
		{"an empty segmentation", segmented(``), []string{"badSegmentation", "DistributionType", "badSegmentation",
			"SegmentBehaviorType", "badSegmentation", "Value"}},
		{"too many segments", segmented(`"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":100000`),
			[]string{"tooManySegments", "segment"}},
		{"all faults at once", `{"matchmaking":{"name":1,"targetFunction":{},"more":true},
			"pools":{"a":[{"attribute":"x","min":3,"max":2},{"max":"y"}]},"hosting":[]}`, []string{
			"wrongType", "matchmaking.name", "missingTargetFunction", "matchmaking.targetFunction.name",
			"unknownMember", "matchmaking.more",
			"badFilterRange", "pools.a[0]", "wrongType", "pools.a[1].max",
			"badFilterAttribute", "pools.a[1].attribute", "wrongType", "hosting",
		}},
	}
	var all []requirement
	for _, c := range table {
		all = append(all, requirement{name: "configs/refused: " + c.name, check: func(t *trial) {
			t.invalid(configRequest(http.MethodPost, "", c.body), c.faults...)
			t.invalid(configRequest(http.MethodPut, t.name("config"), c.body), c.faults...)
		}})
	}
	return append(all,
		requirement{name: "configs/identifiers are file names", check: func(t *trial) {
			for _, id := range []string{"a/b", `a\b`, "a:b", "a*b", "a?b", `a"b`, "a<b", "a>b", "a|b", " a", "a ", "a.", "NUL",
				"com1.txt", "a\x00b", "a\nb", strings.Repeat("a", 256), "\xff"} {
				t.invalid(configRequest(http.MethodPut, id, least), "badConfigId", "configId")
			}
		}},
		requirement{name: "configs/what is no JSON is a problem", check: func(t *trial) {
			for _, bad := range []string{`{`, `{"matchmaking":NaN}`, `{}{}`, " ", "{\"a\":\"\xff\"}",
				strings.Repeat("[", 100) + strings.Repeat("]", 100)} {
				t.mustRefuse(http.StatusBadRequest, configRequest(http.MethodPost, "", bad))
				t.mustRefuse(http.StatusBadRequest, configRequest(http.MethodPut, t.name("config"), bad))
			}
		}},
	)
}

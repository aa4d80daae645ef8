package config

import (
	"fmt"
	"strings"
)

// with returns a valid config with members added.
func with(members string) string {
	return `{"matchmaking":{"targetFunction":{"name":"duel"}}` + members + `}`
}

// filtered returns a valid config with a filter added.
func filtered(filter string) string { return with(`,"pools":{"main":[` + filter + `]}`) }

// segmented returns a valid config with a segmentation of skill from 0 to 100 added.
func segmented(segmentation string) string {
	return filtered(`{"attribute":"skill","min":0,"max":100,"segmentation":` + segmentation + `}`)
}

// uniform is a segmentation into n segments of equal size.
func uniform(n int) string {
	return fmt.Sprintf(`{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":%d}`, n)
}

func repeat(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
	}
	return strings.Join(parts, ",")
}

// refusals lists invalid configs. It wants each error as "code path".
var refusals = []struct {
	name, text string
	want       []string
}{
	{"null", `null`, []string{"wrongType the body"}},
	{"array", `[]`, []string{"wrongType the body"}},
	{"empty", `{}`, []string{"missingMatchmaking matchmaking"}},
	{"matchmaking null", `{"matchmaking":null}`, []string{"missingMatchmaking matchmaking"}},
	{"matchmaking a string", `{"matchmaking":"duel"}`, []string{"wrongType matchmaking"}},
	{"no function", `{"matchmaking":{}}`, []string{"missingTargetFunction matchmaking.targetFunction"}},
	{"function a string", `{"matchmaking":{"targetFunction":"duel"}}`, []string{"wrongType matchmaking.targetFunction"}},
	{"upload 0", `{"matchmaking":{"targetFunction":{"name":"duel","upload":0}}}`,
		[]string{"badTargetFunction matchmaking.targetFunction.upload"}},
	{"upload a string", `{"matchmaking":{"targetFunction":{"name":"duel","upload":"1"}}}`,
		[]string{"wrongType matchmaking.targetFunction.upload"}},
	{"function without a name", `{"matchmaking":{"targetFunction":{}}}`,
		[]string{"missingTargetFunction matchmaking.targetFunction.name"}},
	{"function name null", `{"matchmaking":{"targetFunction":{"name":null}}}`,
		[]string{"missingTargetFunction matchmaking.targetFunction.name"}},
	{"function name empty", `{"matchmaking":{"targetFunction":{"name":""}}}`,
		[]string{"missingTargetFunction matchmaking.targetFunction.name"}},
	{"function name bad", `{"matchmaking":{"targetFunction":{"name":"-duel"}}}`,
		[]string{"badTargetFunction matchmaking.targetFunction.name"}},
	{"function name with a Kelvin sign", `{"matchmaking":{"targetFunction":{"name":"\u212aelvin"}}}`,
		[]string{"badTargetFunction matchmaking.targetFunction.name"}},
	{"function name long", `{"matchmaking":{"targetFunction":{"name":"` + strings.Repeat("a", 65) + `"}}}`,
		[]string{"badTargetFunction matchmaking.targetFunction.name"}},
	{"version a number", `{"matchmaking":{"targetFunction":{"name":"duel","version":1}}}`,
		[]string{"wrongType matchmaking.targetFunction.version"}},
	{"version long", `{"matchmaking":{"targetFunction":{"name":"duel","version":"` + strings.Repeat("1", 65) + `"}}}`,
		[]string{"badTargetFunction matchmaking.targetFunction.version"}},
	{"name long", `{"matchmaking":{"name":"` + strings.Repeat("a", 257) + `","targetFunction":{"name":"duel"}}}`,
		[]string{"badName matchmaking.name"}},
	{"name with a tab", `{"matchmaking":{"name":"a\tb","targetFunction":{"name":"duel"}}}`,
		[]string{"badName matchmaking.name"}},
	{"name an array", `{"matchmaking":{"name":[],"targetFunction":{"name":"duel"}}}`,
		[]string{"wrongType matchmaking.name"}},

	{"settings deep",
		`{"matchmaking":{"targetFunction":{"name":"duel"},"config":` +
			strings.Repeat(`{"a":[`, 17) + strings.Repeat(`]}`, 17) + `}}`,
		[]string{"badFunctionConfig matchmaking.config" + strings.Repeat(".a[0]", 16)}},
	{"settings with a number that is not finite",
		`{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"a":[1e308,1e999],"b":-1e999}}}`,
		[]string{"numberRange matchmaking.config.a[1]", "numberRange matchmaking.config.b"}},
	{"settings with a member twice",
		`{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"a":[{"b":1,"B":2,"b":3}]}}}`,
		[]string{"duplicateMember matchmaking.config.a[0].b"}},

	{"unknown members",
		`{"Matchmaker":1,"matchmaking":{"targetFunction":{"name":"duel","max_version":1},"rules":{}},` +
			`"hosting":{"Region":"eu"},"":0}`,
		[]string{"unknownMember Matchmaker", "unknownMember matchmaking.targetFunction.max_version",
			"unknownMember matchmaking.rules", "unknownMember hosting.Region", `unknownMember ""`}},
	{"unknown member with a terminal escape", with(`,"a\u001b[31m":1`), []string{`unknownMember "a\x1b[31m"`}},
	{"duplicates by case",
		`{"matchmaking":{"targetFunction":{"name":"duel","NAME":"duel"}},"MATCHMAKING":{},"pools":null,"Pools":{}}`,
		[]string{"duplicateMember matchmaking.targetFunction.name", "duplicateMember matchmaking", "duplicateMember pools"}},
	{"duplicate exactly", filtered(`{"attribute":"skill","min":1,"min":1}`),
		[]string{"duplicateMember pools.main[0].min"}},

	{"pools an array", with(`,"pools":[]`), []string{"wrongType pools"}},
	{"pool null", with(`,"pools":{"main":null}`), []string{"wrongType pools.main"}},
	{"pool an object", with(`,"pools":{"main":{}}`), []string{"wrongType pools.main"}},
	{"pool twice", with(`,"pools":{"main":[],"Main":[],"main":[]}`), []string{"duplicateMember pools.main"}},
	{"pool without a name", with(`,"pools":{"":[]}`), []string{`badPoolName pools.""`}},
	{"pool with a long name", with(`,"pools":{"` + strings.Repeat("ä", 65) + `":[]}`),
		[]string{`badPoolName pools."` + strings.Repeat("ä", 64) + `"…`}},
	{"pool with a control character", with(`,"pools":{"a\u0000b":[]}`), []string{`badPoolName pools."a\x00b"`}},
	{"pools, too many", with(`,"pools":{` + repeat(65, `"p#":[]`) + `}`), []string{"tooManyPools pools"}},
	{"filters, too many", filtered(repeat(65, `{"attribute":"a#"}`)), []string{"tooManyFilters pools.main"}},

	{"filter null", filtered(`null`), []string{"wrongType pools.main[0]"}},
	{"filter a string", filtered(`{"attribute":"a"},"skill"`), []string{"wrongType pools.main[1]"}},
	{"attribute missing", filtered(`{"min":1}`), []string{"badFilterAttribute pools.main[0].attribute"}},
	{"attribute and count", filtered(`{"attribute":"a","count":"players"}`),
		[]string{"badFilterAttribute pools.main[0].count"}},
	{"count of something else", filtered(`{"count":"tickets","min":1}`),
		[]string{"badFilterAttribute pools.main[0].count"}},
	{"count in segments", filtered(`{"count":"players","min":1,"max":5,` +
		`"segmentation":{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":2}}`),
		[]string{"badSegmentation pools.main[0].segmentation"}},
	{"attribute empty", filtered(`{"attribute":""}`), []string{"badFilterAttribute pools.main[0].attribute"}},
	{"attribute long", filtered(`{"attribute":"` + strings.Repeat("a", 129) + `"}`),
		[]string{"badFilterAttribute pools.main[0].attribute"}},
	{"attribute a number", filtered(`{"attribute":7}`), []string{"wrongType pools.main[0].attribute"}},
	{"bounds of other types",
		filtered(`{"attribute":"a","min":"5","max":{"a":[1,2]}},{"attribute":"a","min":true,"max":[]}`),
		[]string{"wrongType pools.main[0].min", "wrongType pools.main[0].max", "wrongType pools.main[1].min",
			"wrongType pools.main[1].max"}},
	{"bounds not finite", filtered(`{"attribute":"a","min":-1e309,"max":1e999}`),
		[]string{"numberRange pools.main[0].min", "numberRange pools.main[0].max"}},
	{"bounds as words", filtered(`{"attribute":"a","min":"NaN","max":"Infinity"}`),
		[]string{"wrongType pools.main[0].min", "wrongType pools.main[0].max"}},
	{"max below min", filtered(`{"attribute":"a","min":2,"max":1},{"max":-5,"min":-4.5,"attribute":"b"}`),
		[]string{"badFilterRange pools.main[0]", "badFilterRange pools.main[1]"}},

	{"segmentation an array", segmented(`[]`), []string{"wrongType pools.main[0].segmentation"}},
	{"segmentation empty", segmented(`{}`), []string{
		"badSegmentation pools.main[0].segmentation.DistributionType",
		"badSegmentation pools.main[0].segmentation.SegmentBehaviorType",
		"badSegmentation pools.main[0].segmentation.Value"}},
	{"segmentation with other words", segmented(`{"distributionType":"normal","segmentBehaviorType":"","value":1}`),
		[]string{
			"badSegmentation pools.main[0].segmentation.DistributionType",
			"badSegmentation pools.main[0].segmentation.SegmentBehaviorType"}},
	{"segmentation of other types",
		segmented(`{"DistributionType":1,"SegmentBehaviorType":null,"Value":"4","Stddev":"1"}`), []string{
			"wrongType pools.main[0].segmentation.DistributionType", "wrongType pools.main[0].segmentation.Value",
			"wrongType pools.main[0].segmentation.Stddev", "badSegmentation pools.main[0].segmentation.SegmentBehaviorType"}},
	{"segmentation with an unknown member",
		segmented(`{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":4,"Mean":4}`),
		[]string{"unknownMember pools.main[0].segmentation.Mean"}},
	{"zero segments", segmented(uniform(0)),
		[]string{"badSegmentation pools.main[0].segmentation.Value"}},
	{"negative segments", segmented(`{"DistributionType":"Uniform","SegmentBehaviorType":"BucketSize","Value":-3}`),
		[]string{"badSegmentation pools.main[0].segmentation.Value"}},
	{"fractional segments",
		segmented(`{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":2.5}`),
		[]string{"wrongType pools.main[0].segmentation.Value"}},
	{"segments beyond 64 bits",
		segmented(`{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":1e300}`),
		[]string{"numberRange pools.main[0].segmentation.Value"}},
	{"segments beyond int64",
		segmented(`{"DistributionType":"Uniform","SegmentBehaviorType":"BucketCount","Value":9223372036854775808}`),
		[]string{"numberRange pools.main[0].segmentation.Value"}},
	{"target percentage above 100",
		segmented(`{"DistributionType":"Uniform","SegmentBehaviorType":"TargetPercentage","Value":101}`),
		[]string{"badSegmentation pools.main[0].segmentation.Value"}},
	{"no deviation", segmented(`{"DistributionType":"Normal","SegmentBehaviorType":"BucketCount","Value":4}`),
		[]string{"badSegmentation pools.main[0].segmentation.Stddev"}},
	{"deviation null",
		segmented(`{"DistributionType":"Normal","SegmentBehaviorType":"BucketCount","Value":4,"Stddev":null}`),
		[]string{"badSegmentation pools.main[0].segmentation.Stddev"}},
	{"deviation zero",
		segmented(`{"DistributionType":"Normal","SegmentBehaviorType":"BucketCount","Value":4,"Stddev":0}`),
		[]string{"badSegmentation pools.main[0].segmentation.Stddev"}},
	{"deviation not finite",
		segmented(`{"DistributionType":"Normal","SegmentBehaviorType":"BucketCount","Value":4,"Stddev":1e309}`),
		[]string{"numberRange pools.main[0].segmentation.Stddev"}},
	{"segments without a min",
		filtered(`{"attribute":"a","max":5,"segmentation":` + uniform(2) + `}`),
		[]string{"badSegmentation pools.main[0].segmentation"}},
	{"segments without a max",
		filtered(`{"attribute":"a","max":null,"min":5,"segmentation":` + uniform(2) + `}`),
		[]string{"badSegmentation pools.main[0].segmentation"}},
	{"segments of a bad bound",
		filtered(`{"attribute":"a","max":"7","min":5,"segmentation":` + uniform(2) + `}`),
		[]string{"wrongType pools.main[0].max"}},
	{"segments of a bad range",
		filtered(`{"attribute":"a","max":1,"min":5,"segmentation":` + uniform(2) + `}`),
		[]string{"badFilterRange pools.main[0]"}},
	{"too many segments", segmented(uniform(257)),
		[]string{"tooManySegments pools.main[0].segmentation"}},
	{"too many segments together, and another error",
		with(`,"pools":{"main":[{"attribute":"x","min":"?"},{"attribute":"a","min":0,"max":1,"segmentation":` + uniform(17) +
			`}],"other":[{"attribute":"a","min":0,"max":1,"segmentation":` + uniform(17) + `}]}`),
		[]string{"wrongType pools.main[0].min", "tooManySegments pools.other[0].segmentation"}},

	{"hosting a string", with(`,"hosting":"eu"`), []string{"wrongType hosting"}},
	{"hosting of other types",
		with(`,"hosting":{"Profile":1,"Access":true,"Secret":{},"FleetId":[],"OnAllocationError":true}`), []string{
			"wrongType hosting.Profile", "wrongType hosting.Access", "wrongType hosting.Secret", "wrongType hosting.FleetId",
			"wrongType hosting.OnAllocationError"}},
	{"hosting with an unknown word", with(`,"hosting":{"OnAllocationError":"requeue"}`),
		[]string{"badHosting hosting.OnAllocationError"}},
	{"hosting long", with(`,"hosting":{"profile":"` + strings.Repeat("a", 1025) + `"}`),
		[]string{"badHosting hosting.Profile"}},
	{"hosting with a new line", with(`,"hosting":{"Access":"a\nb","Secret":"s\u0000"}`),
		[]string{"badHosting hosting.Access", "badHosting hosting.Secret"}},

	{"queue a number", with(`,"queue":1`), []string{"wrongType queue"}},
	{"queue a list", with(`,"queue":["ranked"]`), []string{"wrongType queue"}},
	{"acceptance without a time", with(`,"acceptance":{}`), []string{"badAcceptance acceptance.seconds"}},
	{"acceptance of no time", with(`,"acceptance":{"seconds":0}`), []string{"badAcceptance acceptance.seconds"}},
	{"a result in no time", with(`,"result":{}`), []string{"badResult result.seconds"}},
	{"a result after days", with(`,"result":{"seconds":86401}`), []string{"badResult result.seconds"}},
	{"long acceptance", with(`,"acceptance":{"seconds":121}`), []string{"badAcceptance acceptance.seconds"}},
	{"acceptance before now", with(`,"acceptance":{"seconds":-1}`), []string{"badAcceptance acceptance.seconds"}},
	{"acceptance of a fraction", with(`,"acceptance":{"seconds":1.5}`), []string{"wrongType acceptance.seconds"}},
	{"acceptance as a text", with(`,"acceptance":"20"`), []string{"wrongType acceptance"}},
	{"report as a list", with(`,"report":["skill"]`), []string{"wrongType report"}},
	{"report of something else", with(`,"report":{"players":true}`), []string{"unknownMember report.players"}},
	{"report of a number", with(`,"report":{"attributes":[1]}`), []string{"wrongType report.attributes[0]"}},
	{"report of a nameless attribute", with(`,"report":{"attributes":[""]}`),
		[]string{"badReport report.attributes[0]"}},
	{"report of the creation", with(`,"report":{"attributes":["created"]}`),
		[]string{"badReport report.attributes[0]"}},
	{"report of a long name", with(`,"report":{"attributes":["` + strings.Repeat("a", 129) + `"]}`),
		[]string{"badReport report.attributes[0]"}},
	{"report of an attribute twice", with(`,"report":{"attributes":["a","b","a"]}`),
		[]string{"badReport report.attributes[2]"}},
	{"report of nine attributes", with(`,"report":{"attributes":["a","b","c","d","e","f","g","h","i"]}`),
		[]string{"badReport report.attributes"}},
	{"seats as a text", with(`,"seats":"yes"`), []string{"wrongType seats"}},
	{"seats as a number", with(`,"seats":1`), []string{"wrongType seats"}},
	{"acceptance with more", with(`,"acceptance":{"seconds":5,"x":1}`), []string{"unknownMember acceptance.x"}},
	{"queue long", with(`,"queue":"` + strings.Repeat("q", 65) + `"`), []string{"badQueue queue"}},
	{"queue of two words", with(`,"queue":"two words"`), []string{"badQueue queue"}},
	{"queue with a new line", with(`,"queue":"a\nb"`), []string{"badQueue queue"}},

	{"all at once",
		`{"matchmaking":{"name":7,"targetFunction":{"name":"?"}},` +
			`"pools":{"main":[{"attribute":"a","min":2,"max":1}],"":[{}]},"hosting":{"Secret":1},"x":1}`, []string{
			"wrongType matchmaking.name", "badTargetFunction matchmaking.targetFunction.name", "badFilterRange pools.main[0]",
			`badPoolName pools.""`, `badFilterAttribute pools.""[0].attribute`, "wrongType hosting.Secret", "unknownMember x"}},
}

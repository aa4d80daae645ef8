package config

import (
	"errors"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/platform/settings"
)

var limits = settings.Default[definition.Limits]()

// summary is "code path" of a fault.
func summary(f definition.FieldError) string {
	path := regexp.MustCompile(` \(attribute .*`).ReplaceAllString(strings.SplitN(f.Message, ": ", 2)[0], "")
	return f.ResultCode + " " + path
}

func refused(t *testing.T, id, text string) []definition.FieldError {
	t.Helper()
	_, _, err := read(id, jsontext.Value(text), limits)
	errs, ok := errors.AsType[*definition.FieldErrors](err)
	if !ok {
		t.Fatalf("error %v", err)
	}
	return errs.List()
}

func TestReadRefuses(t *testing.T) {
	for _, test := range refusals {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, f := range refused(t, "ranked", test.text) {
				got = append(got, summary(f))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors differ (-want +got):\n%s", diff)
			}
		})
	}
}

// Messages are for people. The test compares one of each kind word by word.
func TestMessages(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{filtered(`{"attribute":"skill","min":10,"max":2.5}`), "pools.main[0]: max 2.5 is below min 10"},
		{filtered(`{"attribute":"skill","min":"10"}`), "pools.main[0].min: a number is expected, got a string"},
		{filtered(`{"attribute":"skill","mn":10}`),
			"pools.main[0].mn: unknown member; known are attribute, count, min, max, segmentation"},
		{with(`,"pools":{"main":null}`), "pools.main: an array is expected, got null"},
		{with(`,"hosting":{"Secret":"top\n"}`), "hosting.Secret: control characters are not allowed"},
		{`{"matchmaking":{"targetFunction":{"name":"a b"}}}`, `matchmaking.targetFunction.name: "a b" is no function name: ` +
			`1 to 64 letters, digits, '.', '_' and '-' are, with a letter or digit first and last`},
		{segmented(`{"distributionType":"Flat","segmentBehaviorType":"BucketCount","value":4}`),
			`pools.main[0].segmentation.DistributionType: "Flat" is not one of Normal, Uniform`},
		{segmented(`{"distributionType":"Uniform","segmentBehaviorType":"BucketCount","value":300}`),
			`pools.main[0].segmentation (attribute "skill") asks for more than 256 segments in all`},
	} {
		if got := refused(t, "ranked", test.text); len(got) != 1 || got[0].Message != test.want {
			t.Errorf("got %q\nwant %q", got, test.want)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, id := range []string{"", ".", "..", "a.", "a/b", `a\b`, "a:b", "a*", "a?", `a"`, "<a", "a>", "a|b", "a\nb",
		"a\x00", " a", "a ", "a\u200b", "\xff", "con", "NUL.json", "Lpt1", strings.Repeat("a", 256)} {
		got := refused(t, id, with(""))
		if len(got) != 1 || summary(got[0]) != "badConfigId configId" {
			t.Errorf("%q: %v", id, got)
		}
	}
	for _, id := range []string{"a", "ranked", "Ranked 2v2 (EU)", "-x", ".hidden", "a.b", "console", "com10", "größe",
		strings.Repeat("a", 255), "6c4de9ba-2f6f-4a8a-9fd3-0a1a2e8f9f3e"} {
		if c, _, err := read(id, jsontext.Value(with("")), limits); err != nil || c.GetId() != id {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func TestReadAccepts(t *testing.T) {
	minimal := func(change func(*pb.Config)) *pb.Config {
		c := &pb.Config{Id: "ranked", Function: "duel"}
		change(c)
		return c
	}
	nested := strings.Repeat("[", 32) + strings.Repeat("]", 32)
	for name, test := range map[string]struct {
		text string
		want *pb.Config
	}{
		"minimal": {with(""), minimal(func(*pb.Config) {})},
		"nulls mean not given": {
			`{"matchmaking":{"name":null,"targetFunction":{"name":"duel","version":null},"config":null},` +
				`"pools":null,"hosting":null}`,
			minimal(func(*pb.Config) {}),
		},
		"empty pools":          {with(`,"pools":{}`), minimal(func(c *pb.Config) { c.PoolsSet = true })},
		"empty hosting":        {with(`,"hosting":{}`), minimal(func(c *pb.Config) { c.Hosting = new(pb.Hosting) })},
		"function in any case": {`{"matchmaking":{"targetFunction":{"name":"DuEl"}}}`, minimal(func(*pb.Config) {})},
		"members by any case": {`{"MATCHMAKING":{"NAME":"n","TargetFunction":{"Name":"duel","VERSION":"1"}}}`,
			minimal(func(c *pb.Config) { c.Name, c.FunctionVersion = "n", "1" })},
		"settings of any type": {`{"matchmaking":{"targetFunction":{"name":"duel"},"config": 7 }}`,
			minimal(func(c *pb.Config) { c.Settings = []byte("7") })},
		"settings as they are": {`{"matchmaking":{"targetFunction":{"name":"duel"},` +
			`"config":{"N" : 1E300, "n":12345678901234567890,"k":[ -0.10, null ],"s":"\u0041 b"}}}`, minimal(func(c *pb.Config) {
			c.Settings = []byte(`{"N":1E300,"n":12345678901234567890,"k":[-0.10,null],"s":"A b"}`)
		})},
		"settings nest 16": {`{"matchmaking":{"targetFunction":{"name":"duel"},"config":` + nested + `}}`,
			minimal(func(c *pb.Config) { c.Settings = []byte(nested) })},
		"names of pools kept": {with(`,"pools":{"Main":[],"main":[],"ma in.\"1\"":[]}`), minimal(func(c *pb.Config) {
			c.PoolsSet, c.Pools = true, map[string]*pb.Pool{"Main": {}, "main": {}, `ma in."1"`: {}}
		})},
		"a null bound is no bound": {filtered(`{"attribute":"skill","min":null,"max":5}`),
			minimal(func(c *pb.Config) { c.PoolsSet, c.Pools = true, poolOf(&pb.Filter{Attribute: "skill", Max: new(5.0)}) })},
		"equal bounds": {filtered(`{"attribute":"created","min":5,"max":5.0}`), minimal(func(c *pb.Config) {
			c.PoolsSet, c.Pools = true, poolOf(&pb.Filter{Attribute: "created", Min: new(5.0), Max: new(5.0)})
		})},
		"no bounds": {filtered(`{"attribute":"skill"}`),
			minimal(func(c *pb.Config) { c.PoolsSet, c.Pools = true, poolOf(&pb.Filter{Attribute: "skill"}) })},
		"segmentation capitalised": {
			segmented(`{"DistributionType":"Normal","SegmentBehaviorType":"TargetPercentage","Value":100,"Stddev":0.5}`),
			minimal(func(c *pb.Config) { c.PoolsSet, c.Pools = true, segments("Normal", "TargetPercentage", 100, new(0.5)) }),
		},
		"segmentation not capitalised": {
			segmented(`{"distributionType":"Uniform","segmentBehaviorType":"BucketCount","value":256.0,"stddev":-1}`),
			minimal(func(c *pb.Config) { c.PoolsSet, c.Pools = true, segments("Uniform", "BucketCount", 256, new(-1.0)) }),
		},
		"value as a power": {segmented(`{"DistributionType":"Uniform","SegmentBehaviorType":"BucketSize","Value":2e1}`),
			minimal(func(c *pb.Config) { c.PoolsSet, c.Pools = true, segments("Uniform", "BucketSize", 20, nil) })},
		"hosting": {with(`,"hosting":{"profile":"p","ACCESS":"a","Secret":"s ","fleetId":"f"}`),
			minimal(func(c *pb.Config) { c.Hosting = &pb.Hosting{Profile: "p", Fleet: "f"} })},
		"requeue": {with(`,"hosting":{"onallocationerror":"Requeue"}`),
			minimal(func(c *pb.Config) { c.Hosting = &pb.Hosting{OnAllocationError: "Requeue"} })},
		"fail": {with(`,"hosting":{"OnAllocationError":"Fail"}`),
			minimal(func(c *pb.Config) { c.Hosting = &pb.Hosting{OnAllocationError: "Fail"} })},
	} {
		t.Run(name, func(t *testing.T) {
			got, keys, err := read("ranked", jsontext.Value(test.text), limits)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got, protocmp.Transform()); diff != "" {
				t.Errorf("record differs (-want +got):\n%s", diff)
			}
			roundTrip(t, got, plainKeys(keys))
		})
	}
}

func poolOf(f *pb.Filter) map[string]*pb.Pool {
	return map[string]*pb.Pool{"main": {Filters: []*pb.Filter{f}}}
}

func segments(distribution, behavior string, value int64, stddev *float64) map[string]*pb.Pool {
	return poolOf(&pb.Filter{Attribute: "skill", Min: new(0.0), Max: new(100.0), Segmentation: &pb.Segmentation{
		Distribution: distribution, Behavior: behavior, Value: value, Stddev: stddev}})
}

func TestLimits(t *testing.T) {
	l := definition.Limits{Pools: 1, Filters: 1, Name: 3}
	deep := strings.Repeat("[", 33) + strings.Repeat("]", 33)
	_, _, err := read("ranked",
		jsontext.Value(`{"matchmaking":{"targetFunction":{"name":"duel"},"config":`+deep+
			`},"pools":{"main":[{"attribute":"skill"},{"attribute":"abc"}],"abc":[]}}`), l)
	errs, _ := errors.AsType[*definition.FieldErrors](err)
	var got []string
	for _, f := range errs.List() {
		got = append(got, summary(f))
	}
	want := []string{"badFunctionConfig matchmaking.config" + strings.Repeat("[0]", 32), "badPoolName pools.main",
		"badFilterAttribute pools.main[0].attribute", "tooManyFilters pools.main", "tooManyPools pools"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("errors differ (-want +got):\n%s", diff)
	}
}

// A list of errors has a bound, and says how many there are beyond it.
func TestAllMistakesAreListed(t *testing.T) {
	got := refused(t, "ranked", with(`,`+repeat(100, `"x#":1`)))
	if len(got) != 100 || got[99].ResultCode != definition.UnknownMember {
		t.Errorf("%d errors, the last %v", len(got), got[len(got)-1])
	}
	got = refused(t, "ranked", with(`,`+repeat(5000, `"x#":1`)))
	if last := got[len(got)-1]; len(got) != 101 ||
		last != (definition.FieldError{ResultCode: definition.TooManyErrors,
			Message: "the body: 4900 more faults are not listed"}) {
		t.Errorf("%d errors, the last %v", len(got), last)
	}
}

// The README's table has every code that a config or settings can be refused with, and no other.
func TestCodesAreDocumented(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	documented := map[string]bool{}
	for _, row := range regexp.MustCompile("(?m)^\\| `(\\w+)` \\|").FindAllStringSubmatch(string(text), -1) {
		documented[row[1]] = true
	}
	used := map[string]bool{badConfigID: true, definition.TooManyErrors: true,
		// Other tests have those that are found by asking a function.
		definition.BadSettings: true, unknownFunction: true, ignoredVersion: true, uncheckedSettings: true,
		failingFunction: true, unknownAttribute: true}
	for _, test := range refusals {
		for _, f := range refused(t, "ranked", test.text) {
			used[f.ResultCode] = true
		}
	}
	for text := range refusedSettings {
		r := definition.NewReader(jsontext.Value(text), limits)
		r.ProjectSettings()
		for _, f := range r.List() {
			used[f.ResultCode] = true
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(documented)), slices.Sorted(maps.Keys(used))); diff != "" {
		t.Errorf("codes differ (-documented +used):\n%s", diff)
	}
}

// roundTrip checks that what GET answers, PUT accepts, and stores the same.
func roundTrip(t tester, c *pb.Config, keys *pb.HostingKeys) {
	t.Helper()
	stored, err := proto.Marshal(c)
	if err != nil {
		t.Fatalf("not storable: %v", err)
	}
	loaded := new(pb.Config)
	if err := proto.Unmarshal(stored, loaded); err != nil {
		t.Fatalf("not loadable: %v", err)
	}
	text := encode(t, bodyOf(loaded, keys))
	again, keysAgain, err := read(c.GetId(), text, limits)
	if err != nil {
		t.Fatalf("GET answers %s, which PUT refuses: %v", text, err)
	}
	if !proto.Equal(loaded, again) || !proto.Equal(keys, plainKeys(keysAgain)) {
		t.Fatalf("GET answers %s, which PUT stores as\n%v, not\n%v", text, again, loaded)
	}
	if second := encode(t, bodyOf(again, plainKeys(keysAgain))); string(second) != string(text) {
		t.Fatalf("GET answers %s, and after PUT of it %s", text, second)
	}
}

// plainKeys are the keys as they are stored and shown.
func plainKeys(k *definition.HostingKeys) *pb.HostingKeys {
	if k == nil {
		return nil
	}
	return &pb.HostingKeys{Access: k.Access, Secret: k.Secret}
}

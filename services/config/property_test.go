package config

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/internal/match/segmentation"
)

// drawConfig makes a good config, as a document and as its record, the hosting keys beside it.
func drawConfig(t *rapid.T) (*node, *pb.Config, *pb.HostingKeys) {
	root, c := new(node), &pb.Config{Id: "ranked"}
	var keys *pb.HostingKeys
	matchmaking, target := new(node), new(node)
	c.Function = rapid.StringMatching(`[a-z0-9]([a-z0-9._-]{0,8}[a-z0-9])?`).Draw(t, "function")
	target.add("name", quoted(c.Function))
	if rapid.Bool().Draw(t, "versioned") {
		c.FunctionVersion = plain(64).Draw(t, "version")
		target.add("version", quoted(c.FunctionVersion))
	}
	matchmaking.add("targetFunction", target)
	if rapid.Bool().Draw(t, "named") {
		c.Name = plain(256).Draw(t, "name")
		matchmaking.add("name", quoted(c.Name))
	}
	if rapid.Bool().Draw(t, "settings") {
		c.Settings = drawSettings(t)
		matchmaking.add("config", &node{scalar: string(c.Settings)})
	}
	root.add("matchmaking", matchmaking)
	if rapid.Bool().Draw(t, "pooled") {
		pools := drawPools(t, c)
		root.add("pools", pools)
	}
	if rapid.Bool().Draw(t, "queued") {
		c.Queue = plain(64).Draw(t, "queue")
		root.add("queue", quoted(c.Queue))
	}
	if rapid.Bool().Draw(t, "reported") {
		names := rapid.SliceOfNDistinct(plain(128).Filter(func(s string) bool { return s != "" }), 0, 8, rapid.ID[string])
		list, n := &node{array: true}, new(node)
		c.Report = &pb.Report{Attributes: names.Draw(t, "attributes")}
		for _, name := range c.Report.GetAttributes() {
			list.items = append(list.items, quoted(name))
		}
		n.add("attributes", list)
		root.add("report", n)
	}
	if rapid.Bool().Draw(t, "hosted") {
		var n *node
		n, keys = drawHosting(t, c)
		root.add("hosting", n)
	}
	return root, c, keys
}

func plain(most int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.RuneFrom(nil, unicode.L, unicode.N, unicode.P, unicode.S), 0, 20, most)
}

func drawSettings(t *rapid.T) []byte {
	scalars := rapid.SampledFrom([]string{"null", "true", "0", "-0.10", "1E300", "12345678901234567890", `"a"`, `"\n\""`,
		`{}`, `[]`})
	parts := rapid.SliceOfN(scalars, 1, 4).Draw(t, "settings")
	return fmt.Appendf(nil, `{"k":[%s],"K":{"":%s}}`, strings.Join(parts, ","), parts[0])
}

func drawPools(t *rapid.T, c *pb.Config) *node {
	pools := &node{free: true}
	c.PoolsSet, c.Pools = true, map[string]*pb.Pool{}
	names := rapid.SliceOfNDistinct(plain(128).Filter(func(s string) bool { return s != "" }), 0, 4, rapid.ID[string])
	segments := 0
	for _, name := range names.Draw(t, "pools") {
		list, p := &node{array: true}, new(pb.Pool)
		for range rapid.IntRange(0, 3).Draw(t, "filters") {
			f, record := drawFilter(t, segments < 2)
			if record.Segmentation != nil {
				segments++
			}
			list.items, p.Filters = append(list.items, f), append(p.Filters, record)
		}
		pools.add(name, list)
		c.Pools[name] = p
	}
	return pools
}

func drawFilter(t *rapid.T, maySegment bool) (*node, *pb.Filter) {
	n, f := new(node), new(pb.Filter)
	f.Attribute = plain(128).Filter(func(s string) bool { return s != "" }).Draw(t, "attribute")
	low, high := rapid.Float64().Draw(t, "low"), rapid.Float64().Draw(t, "high")
	if low > high {
		low, high = high, low
	}
	segmented := maySegment && rapid.Bool().Draw(t, "segmented")
	if segmented || rapid.Bool().Draw(t, "from") {
		f.Min = &low
		n.add("min", numeral(low))
	}
	n.add("attribute", quoted(f.Attribute))
	if segmented || rapid.Bool().Draw(t, "to") {
		f.Max = &high
		n.add("max", numeral(high))
	}
	if segmented {
		s, record := drawSegmentation(t)
		n.add("segmentation", s)
		f.Segmentation = record
	}
	return n, f
}

func drawSegmentation(t *rapid.T) (*node, *pb.Segmentation) {
	n, s := new(node), new(pb.Segmentation)
	s.Distribution = rapid.SampledFrom([]string{segmentation.Uniform, segmentation.Normal}).Draw(t, "distribution")
	s.Behavior = rapid.SampledFrom([]string{segmentation.BucketCount, segmentation.TargetPercentage}).Draw(t, "behavior")
	s.Value = rapid.Int64Range(10, 16).Draw(t, "value")
	n.add("Value", &node{scalar: fmt.Sprint(s.Value)})
	n.add("DistributionType", quoted(s.Distribution))
	n.add("SegmentBehaviorType", quoted(s.Behavior))
	if s.Distribution == segmentation.Normal || rapid.Bool().Draw(t, "deviates") {
		s.Stddev = new(rapid.Float64Range(math.SmallestNonzeroFloat64, math.MaxFloat64).Draw(t, "stddev"))
		n.add("Stddev", numeral(s.GetStddev()))
	}
	return n, s
}

func drawHosting(t *rapid.T, c *pb.Config) (*node, *pb.HostingKeys) {
	n, keys := new(node), new(pb.HostingKeys)
	c.Hosting = new(pb.Hosting)
	for _, m := range []struct {
		name string
		into *string
	}{{"Profile", &c.Hosting.Profile}, {"Access", &keys.Access}, {"Secret", &keys.Secret}, {"FleetId", &c.Hosting.Fleet}} {
		*m.into = plain(1024).Draw(t, m.name)
		n.add(m.name, quoted(*m.into))
	}
	if rapid.Bool().Draw(t, "says what becomes of tickets") {
		c.Hosting.OnAllocationError = rapid.SampledFrom([]string{definition.Fail, definition.Requeue}).Draw(t,
			"OnAllocationError")
		n.add("OnAllocationError", quoted(c.Hosting.OnAllocationError))
	}
	return n, keys
}

func TestGoodConfigs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document, want, wantKeys := drawConfig(t)
		anyCase(t, document)
		text := document.text()
		got, keys, err := read("ranked", text, limits)
		if err != nil {
			t.Fatalf("%s is refused: %v", text, err)
		}
		if !proto.Equal(got, want) || !proto.Equal(plainKeys(keys), wantKeys) {
			t.Fatalf("%s is read as\n%v %v, not\n%v %v", text, got, keys, want, wantKeys)
		}
		roundTrip(t, got, plainKeys(keys))
	})
}

// A mistake anywhere in a good config is found, and named by its path.
func TestEachMistakeIsNamed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		document, _, _ := drawConfig(t)
		victim := rapid.SampledFrom(document.all("")).Draw(t, "victim")
		if inSettings := strings.HasPrefix(victim.path, "matchmaking.config"); inSettings {
			t.Skip("settings may be anything")
		}
		code, path := spoil(t, victim)
		anyCase(t, document)
		text := document.text()
		_, _, err := read("ranked", text, limits)
		errs, ok := errors.AsType[*definition.FieldErrors](err)
		if !ok {
			t.Fatalf("%s is accepted", text)
		}
		for _, f := range errs.List() {
			if f.ResultCode == code && strings.HasPrefix(f.Message, path+": ") {
				return
			}
		}
		t.Fatalf("%s: no %s of %q in %v", text, code, path, errs.List())
	})
}

// spoil makes a mistake in a value, and says which.
func spoil(t *rapid.T, victim *node) (code, path string) {
	below := func(name string) string { return strings.TrimPrefix(victim.path+"."+name, ".") }
	kind := rapid.IntRange(0, 2).Draw(t, "kind")
	switch {
	case kind == 0 && !victim.array && victim.scalar == "" && !victim.free:
		victim.add("?", &node{scalar: "1"})
		return definition.UnknownMember, below("?")
	case kind == 1 && len(victim.members) > 0:
		again := rapid.SampledFrom(victim.members).Draw(t, "again")
		victim.add(again.name, &node{scalar: "null"})
		return definition.DuplicateMember, below(again.name)
	}
	path = victim.path
	if path == "" {
		path = "the body"
	}
	*victim = node{scalar: "true"} // nothing in a config is a boolean
	return definition.WrongType, path
}

// FuzzConfig: whatever is sent is refused with a bounded list of errors that say where they are, or is a config that is
// stored, answered, sent again, and expanded into segments.
func FuzzConfig(f *testing.F) {
	for _, test := range refusals {
		f.Add([]byte(test.text))
	}
	f.Add([]byte(segmented(`{"distributionType":"Normal","SegmentBehaviorType":"BucketSize","Value":4,"Stddev":1}`)))
	f.Add([]byte(`{"matchmaking":{"targetFunction":{"name":"duel"},"config":{"teamSize":1}},` +
		`"pools":{},"hosting":{"FleetId":"x"}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, keys, err := read("ranked", text, limits)
		if errs, ok := errors.AsType[*definition.FieldErrors](err); ok {
			list := errs.List()
			if len(list) == 0 || len(list) > 101 {
				t.Fatalf("%d errors", len(list))
			}
			for _, e := range list {
				if e.ResultCode == "" || !strings.Contains(e.Message, ": ") && e.ResultCode != definition.TooManySegments {
					t.Fatalf("%+v", e)
				}
			}
			encode(t, list)
			return
		}
		if err != nil {
			if jsontext.Value(text).IsValid(jsontext.AllowDuplicateNames(true)) {
				t.Fatalf("JSON is refused: %v", err)
			}
			return
		}
		roundTrip(t, c, plainKeys(keys))
		crowd := segmentation.Population{}
		for name := range c.GetPools() {
			crowd[name] = 1 << 20
		}
		if _, err := segmentation.Expand(c.GetPools(), crowd); err != nil {
			t.Fatalf("cannot be expanded: %v", err)
		}
	})
}

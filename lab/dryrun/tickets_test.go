package dryrun_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/match/definition"
	"matchmaker.dev/services/lab/dryrun"
	"matchmaker.dev/services/lab/population"
)

func TestReadTickets(t *testing.T) {
	at := noon.UnixMilli()
	got, err := dryrun.ReadTickets([]byte(`[
		{"id": "a", "attributes": {"skill": 12.5, "level": -1}, "properties": {"party": "cmVk"}, "wait": 1.5},
		{"created": 1000},
		{"players": [{"id": "ada", "attributes": {"role": 1}, "properties": {"badge": "cmVk"}}, {"id": "bob"}]}
	]`), noon)
	if err != nil {
		t.Fatal(err)
	}
	want := []*pb.Ticket{
		{
			Id:              "a",
			Created:         at - 1500,
			AttributeNames:  []string{"level", "skill"},
			AttributeValues: []float64{-1, 12.5},
			Properties:      map[string][]byte{"party": []byte("red")},
		},
		{Id: "2", Created: 1000},
		{Id: "3", Created: at, Players: []*pb.Player{{Id: "ada", AttributeNames: []string{"role"},
			AttributeValues: []float64{1}, Properties: map[string][]byte{"badge": []byte("red")}}, {Id: "bob"}}},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestReadTicketsNamesAllFieldErrors(t *testing.T) {
	for text, want := range map[string]string{
		`{}`:                                   `the body: an array is expected, got an object`,
		`[1]`:                                  `[0]: an object is expected, got a number`,
		`[{}, {"attributes": {"skill": "x"}}]`: `[1].attributes.skill: a number is expected, got a string`,
		`[{"attributes": {"skill": 1e999}}]`: `[0].attributes.skill: ` +
			`the number is out of the range of 64-bit floating point`,
		`[{"attributes": {"a": 1, "a": 2}}]`: `[0].attributes.a: given twice`,
		`[{"properties": {"p": "!"}}]`:       `[0].properties.p: not Base64 (standard alphabet, with padding)`,
		`[{"properties": {"p": 1}}]`:         `[0].properties.p: a string is expected, got a number`,
		`[{"attributes": {"created": 1}}]`: `[0].attributes.created: ` +
			`the service sets this attribute itself: use the ticket's member "wait" or "created"`,
		`[{"attributes": {"": 1}}]`:  `[0].attributes."": the name is empty`,
		`[{"properties": {"": ""}}]`: `[0].properties."": the name is empty`,
		`[{"wait": -1}]`:             `[0].wait: -1 is below 0`,
		`[{"created": -1}]`:          `[0].created: -1 is below 0: Unix milliseconds are expected`,
		`[{"created": 99999999999999}]`: `[0].created: ` +
			`99999999999999 is in the future: Unix milliseconds are expected`,
		`[{"wait": 1, "created": 1}]`:               `[0].created: cannot be used with wait`,
		`[{"id": ""}]`:                              `[0].id: empty`,
		`[{"id": "a"}, {}, {"id": "a"}]`:            `[2].id: "a" is the id of [0] too`,
		`[{"id": "2"}, {}]`:                         `[1].id: "2" is the id of [0] too`,
		`[{"skill": 1}]`:                            `[0].skill: unknown member; known are id, attributes, properties, wait, created, queues, players`,
		`[{"players": [{"id": "a"}, {"id": "a"}]}]`: `[0].players[1].id: the same player as [0].players[0]`,
		`[{"players": [{}]}]`:                       `[0].players[0].id: required, and not empty`,
		`[{"players": [{"id": "a", "x": 1}]}]`:      `[0].players[0].x: unknown member; known are id, attributes, properties`,
		`[{"wait": "1"}, {"id": 1}, {"id": ""}]`: `[0].wait: a number is expected, got a string; ` +
			`[1].id: a string is expected, got a number; [2].id: empty`,
	} {
		_, err := dryrun.ReadTickets([]byte(text), noon)
		if fields, ok := errors.AsType[*definition.FieldErrors](err); !ok || fields.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

func TestReadBackfills(t *testing.T) {
	at := noon.UnixMilli()
	got, err := dryrun.ReadBackfills([]byte(`[
		{"id": "a", "attributes": {"open": 2}, "properties": {"map": "ZHVuZQ=="}, "wait": 1.5,
			"connection": "10.0.0.1:7777", "version": 3,
			"players": [{"id": "ada", "team": "red", "role": "tank", "attributes": {"skill": 9}}, {"id": "bob"}]},
		{}
	]`), noon)
	if err != nil {
		t.Fatal(err)
	}
	want := []*pb.Backfill{
		{
			Id:              "a",
			Created:         at - 1500,
			Version:         3,
			Connection:      "10.0.0.1:7777",
			AttributeNames:  []string{"open"},
			AttributeValues: []float64{2},
			Properties:      map[string][]byte{"map": []byte("dune")},
			Roster: &pb.Roster{Players: []*pb.RosterPlayer{
				{Id: "ada", Team: "red", Role: "tank", AttributeNames: []string{"skill"}, AttributeValues: []float64{9}},
				{Id: "bob"},
			}},
		},
		{Id: "b2", Created: at, Version: 1},
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	const wrong = `[0].version: 0 is below 1; [1].version: an integer is expected, got a fraction; ` +
		`[2].connection: a string is expected, got a number; [3].players[1].id: the same player as [3].players[0]; ` +
		`[4].players[0].id: required, and not empty; [5].open: unknown member`
	_, err = dryrun.ReadBackfills([]byte(`[{"version": 0}, {"version": 1.5}, {"connection": 1},
		{"players": [{"id": "a"}, {"id": "a"}]}, {"players": [{"team": "red"}]}, {"open": 1}]`), noon)
	if fields, ok := errors.AsType[*definition.FieldErrors](err); !ok || !strings.HasPrefix(fields.Error(), wrong) {
		t.Errorf("%v, want %s", err, wrong)
	}
}

// Adding an attribute does not change the others.
func TestGeneratedTicketsAreReproducible(t *testing.T) {
	skill, err := population.ParseDistribution("normal:1500:300")
	if err != nil {
		t.Fatal(err)
	}
	wait, err := population.ParseDistribution("uniform:-30:30")
	if err != nil {
		t.Fatal(err)
	}
	generator := dryrun.Generator{
		Count:      100,
		Attributes: map[string]population.Distribution{"skill": skill},
		Wait:       wait,
		Seed:       1,
		Now:        noon,
	}
	first := generator.Tickets()
	if diff := cmp.Diff(first, generator.Tickets(), protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
	generator.Attributes = map[string]population.Distribution{"skill": skill, "level": skill}
	second := generator.Tickets()
	generator.Seed = 2
	third := generator.Tickets()
	waiting, levels := 0, 0
	for i := range first {
		was := first[i].GetAttributeValues()[0]
		is, other := second[i].GetAttributeValues()[1], third[i].GetAttributeValues()[1]
		if was != is || first[i].GetCreated() != second[i].GetCreated() || was == other {
			t.Errorf("ticket %d has the skill %v, with another attribute %v, of another seed %v", i, was, is, other)
		}
		if second[i].GetAttributeValues()[0] != is {
			levels++
		}
		switch age := noon.UnixMilli() - first[i].GetCreated(); {
		case age < 0 || age > 30_000:
			t.Errorf("ticket %d waits since %d ms", i, age)
		case age > 0:
			waiting++
		}
	}
	if waiting < 20 || waiting > 80 || levels != 100 {
		t.Errorf("%d wait, %d have a level other than their skill", waiting, levels)
	}
	if first[0].GetId() != "t001" || first[99].GetId() != "t100" {
		t.Errorf("named %s to %s", first[0].GetId(), first[99].GetId())
	}
}

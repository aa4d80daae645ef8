package languages

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
	"matchmaker.dev/services/internal/sandbox"
)

// Every SDK writes an answer that reads as described: fields in any order, and some of them set twice.
func TestAnswerVectors(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			probe := start(t, build(t, l, "probe"))
			for _, v := range load(t, "answer-") {
				if strings.Contains(v.name, "-refused-") {
					continue // for hosts
				}
				var d answerDescription
				v.into(t, &d)
				request := d.script().request(t, d.Tickets, d.Backfills, 0)
				got, want := parse(t, probe.answer(t, request), d.Tickets, d.Backfills), parse(t, v.block, d.Tickets, d.Backfills)
				if !reflect.DeepEqual(proposals(got), proposals(want)) || got.Failure != want.Failure ||
					!slices.Equal(got.Explanations(), want.Explanations()) {
					t.Errorf("%s: %+v, %v, failure %q, want %+v, %v, %q", v.name, proposals(got), got.Explanations(), got.Failure,
						proposals(want), want.Explanations(), want.Failure)
				}
			}
		})
	}
}

// The error of a run keeps the limits of the format.
func TestFailures(t *testing.T) {
	long := strings.Repeat("ü", 3000)
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			probe := start(t, build(t, l, "probe"))
			for text, want := range map[string]string{"no map fits": "no map fits", "": "failed without saying why",
				long: long[:4096], "x" + long: "x" + long[:4094]} {
				var s script
				s.step(stepPropose, 0, "", number64(1))
				s.step(stepFail, 0, "", []byte(text))
				if got := parse(t, probe.answer(t, s.request(t, 1, 0)), 1, 0).Failure; got != want {
					t.Errorf("%.20q, %d bytes, want %.20q, %d bytes", got, len(got), want, len(want))
				}
			}
		})
	}
}

// A crash ends the instance. Where the language prints a message, it is in the log and the reason.
func TestCrash(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			probe := start(t, build(t, l, "probe"))
			var s script
			s.step(stepCrash, 0, "", nil)
			_, _, err := probe.Run(t.Context(), s.request(t, 1, 0), 0)
			trap, ok := errors.AsType[*sandbox.Error](err)
			if !ok || trap.Cause != sandbox.Trap && trap.Cause != sandbox.Exit || !probe.ended() {
				t.Fatalf("%v, ended: %v", err, probe.ended())
			}
			if all := strings.Join(probe.printed(), "\n") + trap.Detail; l.name != "C" && !strings.Contains(all, "told to") {
				t.Errorf("the log says %q", all)
			}
			begin := map[string]string{"C": "unreachable", "AssemblyScript": "abort: told to", "Rust": "panicked at "}[l.name]
			if !strings.HasPrefix(trap.Detail, begin) {
				t.Errorf("the reason is %q, want %q", trap.Detail, begin)
			}
		})
	}
}

// Every SDK keeps the limits of explanations, as that for Go does.
func TestExplanations(t *testing.T) {
	long := strings.Repeat("ü", 600)
	var s script
	for _, e := range []block.Explanation{
		{Ticket: 0, Reason: "not asked", Candidates: 1},
		{Ticket: 9, Reason: "not there", Candidates: 1},
		{Ticket: 1, Reason: "", Candidates: 1},
		{Ticket: 1, Reason: "near", Candidates: 3},
		{Ticket: 1, Reason: "x" + long, Candidates: -1},
		{Ticket: 1, Reason: "many", Candidates: block.MaxCandidates + 1},
	} {
		s.explain(e)
	}
	want := []block.Explanation{
		{Ticket: 1, Reason: "near", Candidates: 3},
		{Ticket: 1, Reason: "x" + long[:block.MaxReason-2], Candidates: -1},
		{Ticket: 1, Reason: "many", Candidates: block.MaxCandidates},
	}
	for i := range 2 * block.MaxReasons {
		e := block.Explanation{Ticket: 3, Reason: "again"}
		if s.explain(e); i < block.MaxReasons {
			want = append(want, e)
		}
	}
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			probe := start(t, build(t, l, "probe"))
			for range 2 { // nothing is left of the run before
				if got := parse(t, probe.answer(t, s.request(t, 4, 0, 1, 3)), 4, 0).Explanations(); !slices.Equal(got, want) {
					t.Errorf("%+v, want %+v", got, want)
				}
			}
			if got := parse(t, probe.answer(t, s.request(t, 4, 0)), 4, 0).Explanations(); len(got) > 0 {
				t.Errorf("nobody asks, and the answer has %+v", got)
			}
		})
	}
}

// script is what the probe proposes, as steps in the order of its calls. A step is four u32: what to do (a block.Field,
// or one of those below), subject, length of the name and of the value. Name and value follow, each padded to 8 bytes.
type script []byte

const (
	stepPropose = iota + 32
	stepTeam
	stepFail
	stepCrash
	stepExplain
)

func (s *script) step(what, subject uint32, name string, value []byte) {
	for _, word := range []uint32{what, subject, uint32(len(name)), uint32(len(value))} {
		*s = binary.LittleEndian.AppendUint32(*s, word)
	}
	for _, part := range []string{name, string(value)} {
		*s = append(*s, part+strings.Repeat("\x00", -len(part)&7)...)
	}
}

func (s *script) explain(e block.Explanation) {
	s.step(stepExplain, e.Ticket, e.Reason, binary.LittleEndian.AppendUint64(nil, uint64(e.Candidates)))
}

// request is a request with the script as the property of ticket 0, which asks about some tickets.
func (s script) request(t *testing.T, tickets, backfills int, asked ...uint32) []byte {
	t.Helper()
	var b block.RequestBuilder
	b.Start(block.Meta{Tickets: max(tickets, 1), Backfills: backfills})
	b.Values(block.KindProperty, "script", func(i int) ([]byte, bool) { return s, i == 0 })
	b.Numbers(block.KindBackfillCreated, "")
	b.BackfillVersion()
	b.Values(block.KindBackfillConnection, "", func(int) ([]byte, bool) { return nil, false })
	copy(b.Asked(len(asked)), asked)
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	return request
}

func number64(v float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)) }

type answerDescription struct {
	Tickets, Backfills int
	Failure            string
	Proposals          []proposalDescription
	Explanations       []block.Explanation
}

type proposalDescription struct {
	Score                                 float64
	Teams                                 [][]uint32
	TeamNames                             []string
	Connection, Error                     string
	AssignmentProperties, MatchProperties string
	TicketProperties                      map[uint32]string
	Region, Fleet, Profile                string
	Backfill                              *struct {
		Create     bool
		Number     uint32
		Attributes map[string]*float64
		Properties map[string][]byte
		Remove     []string
	}
	Measures map[string]float64
}

func (d answerDescription) script() script {
	var s script
	for _, p := range d.Proposals {
		s.step(stepPropose, 0, "", number64(p.Score))
		for _, team := range p.Teams {
			var tickets []byte
			for _, ticket := range team {
				tickets = binary.LittleEndian.AppendUint32(tickets, ticket)
			}
			s.step(stepTeam, 0, "", tickets)
		}
		parts := p.parts()
		for _, part := range parts {
			if len(part.value) > 0 {
				s.step(uint32(part.field), part.subject, part.name, make([]byte, len(part.value))) // and then again
			}
		}
		slices.Reverse(parts)
		for _, part := range parts {
			s.step(uint32(part.field), part.subject, part.name, part.value)
		}
	}
	for _, e := range d.Explanations {
		s.explain(e)
	}
	if d.Failure != "" {
		s.step(stepFail, 0, "", []byte(d.Failure))
	}
	return s
}

type part struct {
	field   block.Field
	subject uint32
	name    string
	value   []byte
}

func (p proposalDescription) parts() (all []part) {
	text := func(field block.Field, subject uint32, value string) {
		if value != "" {
			all = append(all, part{field, subject, "", []byte(value)})
		}
	}
	for team, name := range p.TeamNames {
		text(block.FieldTeamName, uint32(team), name)
	}
	text(block.FieldConnection, 0, p.Connection)
	text(block.FieldError, 0, p.Error)
	text(block.FieldAssignmentProperties, 0, p.AssignmentProperties)
	text(block.FieldMatchProperties, 0, p.MatchProperties)
	for _, ticket := range slices.Sorted(maps.Keys(p.TicketProperties)) {
		text(block.FieldTicketProperties, ticket, p.TicketProperties[ticket])
	}
	text(block.FieldRegion, 0, p.Region)
	text(block.FieldFleet, 0, p.Fleet)
	text(block.FieldProfile, 0, p.Profile)
	for name, v := range p.Measures {
		all = append(all, part{block.FieldMeasure, 0, name, number64(v)})
	}
	b := p.Backfill
	if b == nil {
		return all
	}
	if b.Create {
		all = append(all, part{field: block.FieldBackfillCreate})
	} else {
		all = append(all, part{field: block.FieldBackfillUpdate, subject: b.Number})
	}
	for name, v := range b.Attributes {
		value := number64(math.NaN())
		if v != nil {
			value = number64(*v)
		}
		all = append(all, part{block.FieldBackfillAttribute, 0, name, value})
	}
	for name, v := range b.Properties {
		all = append(all, part{block.FieldBackfillProperty, 0, name, v})
	}
	for _, name := range b.Remove {
		all = append(all, part{block.FieldBackfillRemove, 0, name, nil})
	}
	return all
}

type proposal struct {
	Score  float64
	Teams  [][]uint32
	Extras *block.Extras
}

// proposals are an answer's proposals, to compare. NaN equals no number, so the NaN that removes an attribute becomes
// an infinity, which no answer has.
func proposals(a *block.Answer) (all []proposal) {
	for p := range a.Len() {
		one := proposal{Score: a.Score(p), Extras: a.Extras(p)}
		for team := range a.Teams(p) {
			one.Teams = append(one.Teams, append([]uint32{}, a.Team(p, team)...))
		}
		if one.Extras != nil && one.Extras.Backfill != nil {
			for i, attribute := range one.Extras.Backfill.Attributes {
				if math.IsNaN(attribute.Value) {
					one.Extras.Backfill.Attributes[i].Value = math.Inf(1)
				}
			}
		}
		all = append(all, one)
	}
	return all
}

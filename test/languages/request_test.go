package languages

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn"
	"matchmaker.dev/pkg/matchfn/block"
)

// Every SDK reads from a request what its description says. The probe prints what its SDK read, and the test prints the
// description in the same form without a reader of blocks.
func TestRequestVectors(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			probe := start(t, build(t, l, "probe"))
			for _, v := range load(t, "request-") {
				var d requestDescription
				v.into(t, &d)
				a := parse(t, probe.answer(t, v.block), 1, 0)
				printed := probe.printed()
				if d.Refused != "" {
					if a.Failure == "" || len(printed) > 0 {
						t.Errorf("%s is not refused but read as\n%s", v.name, strings.Join(printed, "\n"))
					}
					continue
				}
				if want := d.lines(t); !slices.Equal(printed, want) || a.Failure != "" {
					t.Errorf("%s is read as\n%s\nwant\n%s\nfailure %q", v.name, strings.Join(printed, "\n"), strings.Join(want, "\n"),
						a.Failure)
				}
			}
		})
	}
}

// Sorting is the same in every language, for all values of a column.
func TestOrder(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			probe := start(t, build(t, l, "probe"))
			for seed, n := range []int{0, 1, 2, 100, 300} { // as many as one line of the log has room for
				request := crowd(t, uint64(seed), n)
				probe.answer(t, request)
				r, err := block.ParseRequest(request)
				if err != nil {
					t.Fatal(err)
				}
				skill, _ := r.Numbers(block.KindAttribute, "skill")
				if want := line("order skill", matchfn.SortBy(skill), integer); !slices.Contains(probe.printed(), want) {
					t.Errorf("%d tickets: %v are not printed as %s", n, skill, want)
				}
			}
		})
	}
}

// A damaged request may be read as another one or be refused. It does not crash the function.
func TestDamagedRequests(t *testing.T) {
	for _, l := range languages() {
		t.Run(l.name, func(t *testing.T) {
			probe, r := start(t, build(t, l, "probe")), rand.New(rand.NewPCG(1, 2))
			refused := 0
			for _, v := range load(t, "request-full") {
				for range 2000 {
					damaged := bytes.Clone(v.block)
					for range 1 + r.IntN(3) {
						damaged[r.IntN(len(damaged))] = []byte{0, 1, 7, 8, 0x80, 0xff}[r.IntN(6)]
					}
					if a := parse(t, probe.answer(t, damaged), 3, 2); a.Failure != "" {
						refused++
					}
				}
				for length := 0; length < len(v.block); length += 4 {
					if a := parse(t, probe.answer(t, v.block[:length]), 3, 2); a.Failure == "" {
						t.Errorf("%d of %d bytes are not refused", length, len(v.block))
					}
				}
			}
			if refused < 100 {
				t.Errorf("%d of 2000 are refused", refused)
			}
		})
	}
}

// parse reads an answer as a runner does.
func parse(t *testing.T, answer []byte, tickets, backfills int) *block.Answer {
	t.Helper()
	a, err := block.ParseAnswer(answer, tickets, backfills)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

type requestDescription struct {
	Refused   string
	Now, Seed string
	Budget    uint32
	Config    string
	Created   []*float64
	Wait      []*float64
	Tickets   columns
	Backfills columns
	Players   struct {
		Starts     []uint32
		Handles    []string
		IDs        []*[]byte
		Attributes []named[*float64]
		Properties []named[*[]byte]
	}

	BackfillPlayers struct {
		Starts     []uint32
		Handles    []string
		IDs        []*[]byte
		Teams      []*[]byte
		Roles      []*[]byte
		Attributes []named[*float64]
		Barred     []uint32
	}

	LeftOutAttributes, LeftOutProperties uint32

	Asked []uint32
}

type columns struct {
	Count      int
	Created    []*float64
	Version    []string
	Connection []*[]byte
	Attributes []named[*float64]
	Properties []named[*[]byte]
	Pools      []named[uint32]
}

type named[T any] struct {
	Name   string
	Values []T
}

// lines are what the probe prints: integers, the bits of floating point numbers as 16 digits, bytes in hexadecimal
// after a dot, and - for what is missing. It also asks for columns that do not exist, and for the order of each
// attribute.
func (d requestDescription) lines(t *testing.T) []string {
	now, err := strconv.ParseInt(d.Now, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	seed, err := strconv.ParseUint(d.Seed, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{
		line("now", []uint64{uint64(now)}, integer),
		line("seed", []uint64{seed}, integer),
		line("budget", []uint64{uint64(d.Budget)}, integer),
		"config " + d.Config,
		line("left out", []uint32{d.LeftOutAttributes, d.LeftOutProperties}, integer),
		line("tickets", []int{d.Tickets.Count}, integer),
		line("created", d.Created, number),
		line("wait", d.Wait, number),
	}
	lines = append(lines, d.Tickets.lines("")...)
	for _, a := range d.Tickets.Attributes {
		column := make([]float64, len(a.Values))
		for i, v := range a.Values {
			if column[i] = math.NaN(); v != nil {
				column[i] = *v
			}
		}
		lines = append(lines, line("order "+a.Name, matchfn.SortBy(column), integer))
	}
	var versions []int64
	for _, v := range d.Backfills.Version {
		version, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		versions = append(versions, version)
	}
	lines = append(lines,
		line("backfills", []int{d.Backfills.Count}, integer),
		line("backfill created", d.Backfills.Created, number),
		line("backfill version", versions, integer),
		line("backfill connection", d.Backfills.Connection, value),
	)
	lines = append(lines, d.Backfills.lines("backfill ")...)
	return slices.Concat(lines, d.playerLines(t), d.backfillPlayerLines(t), []string{line("asked", d.Asked, integer)})
}

// playerLines are what the probe prints of players. Without a description every ticket has one.
func (d requestDescription) playerLines(t *testing.T) []string {
	p := d.Players
	for ticket := len(p.Starts); ticket <= d.Tickets.Count; ticket++ {
		p.Starts = append(p.Starts, uint32(ticket))
	}
	count := int(p.Starts[d.Tickets.Count])
	lines := []string{
		line("player starts", p.Starts, integer), line("player handles", handles(t, p.Handles), integer),
		line("player ids", orMissing(p.IDs, count), value),
	}
	return append(lines, columns{Count: count, Attributes: p.Attributes, Properties: p.Properties}.lines("player ")...)
}

// backfillPlayerLines are what the probe prints of players in running games. Without a description no game has any.
func (d requestDescription) backfillPlayerLines(t *testing.T) []string {
	p := d.BackfillPlayers
	if p.Starts == nil {
		p.Starts = make([]uint32, d.Backfills.Count+1)
	}
	count := int(p.Starts[d.Backfills.Count])
	lines := []string{
		line("backfill player starts", p.Starts, integer),
		line("backfill player handles", handles(t, p.Handles), integer),
		line("backfill player ids", orMissing(p.IDs, count), value),
		line("backfill player teams", orMissing(p.Teams, count), value),
		line("backfill player roles", orMissing(p.Roles, count), value),
	}
	for _, a := range append(p.Attributes, named[*float64]{nobody, make([]*float64, count)}) {
		lines = append(lines, line("backfill player attribute "+a.Name, a.Values, number))
	}
	return append(lines, line("barred", p.Barred, integer))
}

func handles(t *testing.T, digits []string) (all []uint64) {
	t.Helper()
	for _, h := range digits {
		handle, err := strconv.ParseUint(h, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, handle)
	}
	return all
}

// orMissing is values, or as many that are missing.
func orMissing(values []*[]byte, count int) []*[]byte {
	if values == nil {
		return make([]*[]byte, count)
	}
	return values
}

// nobody names a column that no request has.
const nobody = "nobody's"

func (c columns) lines(kind string) (lines []string) {
	for _, a := range append(c.Attributes, named[*float64]{nobody, make([]*float64, c.Count)}) {
		lines = append(lines, line(kind+"attribute "+a.Name, a.Values, number))
	}
	for _, p := range append(c.Properties, named[*[]byte]{nobody, make([]*[]byte, c.Count)}) {
		lines = append(lines, line(kind+"property "+p.Name, p.Values, value))
	}
	for _, p := range append(c.Pools, named[uint32]{nobody, nil}) {
		lines = append(lines, line(kind+"pool "+p.Name, p.Values, integer))
	}
	return lines
}

func line[T any](what string, values []T, show func(T) string) string {
	for _, v := range values {
		what += " " + show(v)
	}
	return what
}

func integer[T int | uint32 | uint64 | int64](v T) string { return fmt.Sprintf("%016x", uint64(v)) }

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return integer(math.Float64bits(*v))
}

func value(v *[]byte) string {
	if v == nil {
		return "-"
	}
	return "." + hex.EncodeToString(*v)
}

package block_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

var update = flag.Bool("update", false, "rewrite testdata/vectors")

// vector is a block in testdata/vectors. FORMAT.md says how to use them.
type vector struct {
	name               string
	block              []byte
	tickets, backfills int // of the request that an answer belongs to
}

func vectors(t *testing.T) []vector {
	t.Helper()
	var b block.RequestBuilder
	full := slices.Clone(everything(t, &b))
	b.Start(block.Meta{})
	empty, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	one := []raw{teams(1), tickets(0)}
	with := func(more ...raw) []byte { return answer(append(slices.Clone(one), more...)...) }
	deep := `{"a":` + strings.Repeat("[", 32) + strings.Repeat("]", 32) + "}"
	return append(refusedRequests(), []vector{
		{name: "request-empty", block: empty},
		{name: "request-full", block: full},
		{name: "request-extremes", block: extremeRequest(t)},
		{name: "request-players", block: playersRequest(t)},
		{name: "request-backfill-players", block: rosterRequest(t)},
		{name: "request-players-alone", block: alonePlayersRequest(t)},
		{name: "request-asked", block: askedRequest(t)},
		{
			name: "request-later",
			block: assemble("MMRQ", meta(1, 0, 5, 0, 0, 0, 7, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8), unknown(99, 5),
				raw{3, "", numbers(1)}, raw{4, "", numbers(2)}, unknown(99, 0)),
		},
		{name: "request-refused-version", block: bytes.Replace(empty, []byte{1, 0, 0, 0}, []byte{2, 0, 0, 0}, 1)},
		{name: "request-refused-without-meta", block: assemble("MMRQ", raw{3, "", nil})},
		{
			name:  "request-refused-short-column",
			block: assemble("MMRQ", meta(2, 0), raw{3, "", numbers(1, 2)}, raw{4, "", numbers(2)}),
		},

		{"answer-empty", answer(), 0, 0},
		{"answer-pairs", answer(teams(2, 4), tickets(0, 1, 3, 2), scores(1.5, -2)), 4, 0},
		{"answer-shared-ticket", answer(teams(2, 4), tickets(0, 1, 1, 2)), 3, 0},
		{"answer-full", fullAnswer(), 8, 2},
		{"answer-extremes", extremeAnswer(), extremeTickets, extremeTickets},
		{"answer-later", with(unknown(20, 3), unknown(1<<31, 0)), 1, 0},
		{
			"answer-explanations", with(explanations(0, 3, 0, 4, 0, 0xffffffff, 4, 3), reasons("nearfar")), 1, 0,
		},
		{"answer-refused-explanation-ticket", with(explanations(1, 3, 0, 4), reasons("near")), 1, 0},
		{"answer-refused-explanation-outside", with(explanations(0, 3, 1, 4), reasons("near")), 1, 0},
		{"answer-refused-explanation-empty", with(explanations(0, 3, 0, 0), reasons("near")), 1, 0},
		{"answer-refused-explanation-not-utf8", with(explanations(0, 3, 0, 1), reasons("\xff")), 1, 0},
		{"answer-refused-explanation-half", with(explanations(0, 3), reasons("near")), 1, 0},
		{"answer-failure", answer(failure("no pool \"ranked\"")), 0, 0},
		{"answer-refused-magic", assemble("MMRQ"), 0, 0},
		{"answer-refused-length", append(answer(), make([]byte, 8)...), 0, 0},
		{"answer-refused-misaligned", misaligned(), 1, 0},
		{"answer-refused-overlap", overlapping(), 2, 0},
		{"answer-refused-section-twice", with(tickets(0)), 1, 0},
		{"answer-refused-half-a-number", answer(raw{1, "", []byte{1, 0, 0, 0, 0}}), 1, 0},
		{"answer-refused-ends-descend", answer(teams(2, 1, 3), tickets(0, 1, 2)), 3, 0},
		{"answer-refused-ends-short", answer(teams(1), tickets(0, 1)), 2, 0},
		{"answer-refused-proposals-long", answer(teams(1, 2), proposals(3), tickets(0, 1)), 2, 0},
		{"answer-refused-no-tickets", answer(teams(1, 1), tickets(0)), 1, 0},
		{"answer-refused-ticket-out-of-range", answer(teams(1), tickets(1)), 1, 0},
		{"answer-refused-ticket-twice", answer(teams(1, 2), proposals(2), tickets(0, 0)), 1, 0},
		{"answer-refused-scores", with(scores(1, 2)), 1, 0},
		{"answer-refused-score-nan", with(scores(math.NaN())), 1, 0},
		{"answer-refused-score-infinite", with(scores(math.Inf(1))), 1, 0},
		{"answer-refused-failure-empty", answer(failure("")), 0, 0},
		{"answer-refused-failure-not-utf8", answer(failure("\xff")), 0, 0},
		{"answer-refused-part-proposal", with(parts(1, 2, 0, 0, 0, 1), data("x")), 1, 0},
		{"answer-refused-part-outside", with(parts(0, 2, 0, 0, 1, 1), data("x")), 1, 0},
		{"answer-refused-part-offset-overflow", with(parts(0, 2, 0, 0, 0xffffffff, 2), data("x")), 1, 0},
		{"answer-refused-part-name-outside", with(parts(0, 13, 0, 2, 0, 1), data("x")), 1, 0},
		{"answer-refused-part-field", with(parts(0, 16, 0, 0, 0, 1), data("x")), 1, 0},
		{"answer-measures", measuredAnswer(2, block.MaxMeasures), 2, 0},
		{"answer-refused-measures", measuredAnswer(1, block.MaxMeasures+1), 2, 0},
		{"answer-refused-measure-name", with(parts(0, 15, 0, 0, 0, 8), data(string(numbers(1)))), 1, 0},
		{
			"answer-refused-measure-long",
			with(parts(0, 15, 0, 65, 0, 73), data(strings.Repeat("x", 65)+string(numbers(1)))), 1, 0,
		},
		{"answer-refused-measure-size", with(parts(0, 15, 0, 1, 0, 8), data("abcdefgh")), 1, 0},
		{"answer-refused-measure-nan", with(parts(0, 15, 0, 1, 0, 9), data("a"+string(numbers(math.NaN())))), 1, 0},
		{"answer-refused-measure-infinite", with(parts(0, 15, 0, 1, 0, 9), data("a"+string(numbers(math.Inf(1))))), 1, 0},
		{"answer-refused-part-field-zero", with(parts(0, 0, 0, 0, 0, 1), data("x")), 1, 0},
		{"answer-refused-part-order", with(parts(0, 3, 0, 0, 0, 1, 0, 2, 0, 0, 1, 1), data("xy")), 1, 0},
		{"answer-refused-part-twice", with(parts(0, 2, 0, 0, 0, 1, 0, 2, 0, 0, 1, 1), data("xy")), 1, 0},
		{"answer-refused-part-shared-too-much", with(parts(0, 2, 0, 0, 0, 2, 0, 3, 0, 0, 0, 2), data("xyz")), 1, 0},
		{"answer-refused-part-empty", with(parts(0, 2, 0, 0, 0, 0)), 1, 0},
		{"answer-refused-part-control", with(parts(0, 2, 0, 0, 0, 3), data("a\nb")), 1, 0},
		{"answer-refused-part-long", with(parts(0, 7, 0, 0, 0, 257), data(strings.Repeat("x", 257))), 1, 0},
		{"answer-refused-part-not-utf8", with(parts(0, 2, 0, 0, 0, 1), data("\xff")), 1, 0},
		{"answer-refused-part-named", with(parts(0, 2, 0, 1, 0, 2), data("xy")), 1, 0},
		{"answer-refused-part-subject", with(parts(0, 2, 1, 0, 0, 1), data("x")), 1, 0},
		{"answer-refused-team-name", with(parts(0, 1, 1, 0, 0, 1), data("x")), 1, 0},
		{"answer-refused-ticket-properties", with(parts(0, 6, 1, 0, 0, 2), data("{}")), 2, 0},
		{"answer-refused-json", with(parts(0, 5, 0, 0, 0, 7), data(`{"a":1,`)), 1, 0},
		{"answer-refused-json-not-an-object", with(parts(0, 4, 0, 0, 0, 2), data(`[]`)), 1, 0},
		{"answer-refused-json-deep", with(parts(0, 5, 0, 0, 0, uint32(len(deep))), data(deep)), 1, 0},
		{"answer-refused-backfill-number", with(parts(0, 11, 2, 0, 0, 0)), 1, 2},
		{"answer-refused-backfill-both", with(parts(0, 10, 0, 0, 0, 0, 0, 11, 0, 0, 0, 0)), 1, 1},
		{"answer-refused-backfill-neither", with(parts(0, 13, 0, 1, 0, 2), data("xy")), 1, 1},
		{"answer-refused-backfill-no-name", with(parts(0, 10, 0, 0, 0, 0, 0, 14, 0, 0, 0, 0)), 1, 1},
		{"answer-refused-backfill-value", with(parts(0, 10, 0, 0, 0, 1), data("x")), 1, 1},
		{"answer-refused-backfill-attribute-size", with(parts(0, 10, 0, 0, 0, 0, 0, 12, 0, 1, 0, 8), data("abcdefgh")), 1, 1},
		{
			"answer-refused-backfill-attribute-infinite",
			with(parts(0, 10, 0, 0, 0, 0, 0, 12, 0, 1, 0, 9), data("a"+string(numbers(math.Inf(-1))))),
			1,
			1,
		},
		{
			"answer-refused-backfill-attribute-created",
			with(parts(0, 10, 0, 0, 0, 0, 0, 12, 0, 7, 0, 15), data("created"+string(numbers(1)))),
			1,
			1,
		},
	}...)
}

// fullAnswer uses every field. The builder writes it.
func fullAnswer() []byte {
	var b block.AnswerBuilder
	b.Propose(0.25)
	b.Team(0, 1)
	p := b.Propose(-2)
	b.Team(4)
	b.Team()
	b.Team(3, 2)
	b.Set(p, block.FieldTeamName, 0, "", []byte("rouge é"))
	b.Set(p, block.FieldTeamName, 2, "", []byte("blue"))
	b.Set(p, block.FieldConnection, 0, "", []byte("10.0.0.1:7777"))
	b.Set(p, block.FieldAssignmentProperties, 0, "", []byte(`{"old":true}`))
	b.Set(p, block.FieldMatchProperties, 0, "", []byte(`{"map":"cave"}`))
	b.Set(p, block.FieldTicketProperties, 4, "", []byte(`{"password":"x"}`))
	b.Set(p, block.FieldTicketProperties, 2, "", []byte(`{}`))
	b.Set(p, block.FieldRegion, 0, "", []byte("eu"))
	b.Set(p, block.FieldFleet, 0, "", []byte("spot"))
	b.Set(p, block.FieldProfile, 0, "", []byte("large"))
	b.Set(p, block.FieldBackfillCreate, 0, "", nil)
	b.SetNumber(p, block.FieldBackfillAttribute, 0, "missing", 1)
	b.Set(p, block.FieldBackfillProperty, 0, "state", []byte{0, 255})
	p = b.Propose(0)
	b.Team(5)
	b.Set(p, block.FieldError, 0, "", []byte("PoolTimeout"))
	p = b.Propose(3)
	b.Team(6, 7)
	b.Set(p, block.FieldBackfillUpdate, 1, "", nil)
	b.SetNumber(p, block.FieldBackfillAttribute, 0, "gone", math.NaN())
	b.SetNumber(p, block.FieldBackfillAttribute, 0, "missing", 0)
	b.Set(p, block.FieldBackfillProperty, 0, "empty", nil)
	b.Set(p, block.FieldBackfillRemove, 0, "old", nil)
	return slices.Clone(b.Finish())
}

// measuredAnswer has proposals with so many measures.
func measuredAnswer(proposals, measures int) []byte {
	var b block.AnswerBuilder
	for i := range proposals {
		p := b.Propose(1, uint32(i))
		for n := range measures {
			b.SetNumber(p, block.FieldMeasure, 0, strings.Repeat("m", n+1), float64(n)/-4)
		}
	}
	return slices.Clone(b.Finish())
}

func misaligned() []byte {
	b := answer(teams(1), tickets(0))
	table := int(b[12])
	b[table+12] += 4 // the offset of the teams
	return b
}

func overlapping() []byte {
	b := answer(teams(2), tickets(0, 1))
	table := int(b[12])
	b[table+24+12] = b[table+12] // the offset of the tickets
	return b
}

func TestVectorsAreAsDescribed(t *testing.T) {
	dir := filepath.Join("testdata", "vectors")
	var want []string
	for _, v := range vectors(t) {
		want = append(want, v.name+".hex", v.name+".json")
		t.Run(v.name, func(t *testing.T) {
			description := describe(t, v)
			if refused := strings.Contains(description, `"refused"`); refused != strings.Contains(v.name, "-refused-") {
				t.Errorf("the description is %s", description)
			}
			golden(t, filepath.Join(dir, v.name+".hex"), hexLines(v.block))
			golden(t, filepath.Join(dir, v.name+".json"), description)
		})
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !slices.Contains(want, e.Name()) {
			t.Errorf("%s is of no vector", e.Name())
		}
	}
}

// golden compares got with a file, or writes the file with -update.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s:\n%s\nwant\n%s", path, got, want)
	}
}

// hexLines writes eight bytes on each line.
func hexLines(b []byte) string {
	var out strings.Builder
	for line := range slices.Chunk(b, 8) {
		out.WriteString(hex.EncodeToString(line) + "\n")
	}
	return out.String()
}

// describe returns in JSON what a reader must find in a block.
func describe(t *testing.T, v vector) string {
	t.Helper()
	var d any
	if strings.HasPrefix(v.name, "request") {
		d = describeRequest(v.block)
	} else {
		d = describeAnswer(v.block, v.tickets, v.backfills)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

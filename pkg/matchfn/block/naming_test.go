package block_test

import (
	"reflect"
	"strings"
	"testing"

	"matchmaker.dev/pkg/matchfn/block"
)

// A request may ask for nothing but columns, and the answer has them.
func TestFunctionsNameColumns(t *testing.T) {
	var b block.RequestBuilder
	b.Start(block.Meta{Now: 1})
	b.Config([]byte(`{"by":"skill"}`))
	b.Naming()
	request, err := b.Finish()
	if err != nil {
		t.Fatal(err)
	}
	in, err := block.ParseRequest(request)
	if err != nil || !in.Naming || string(in.Config) != `{"by":"skill"}` || in.Check() != nil {
		t.Errorf("%+v, %v", in, err)
	}
	var answer block.AnswerBuilder
	answer.Columns(block.Columns{
		Attributes: []string{"b", "a"}, PlayerProperties: []string{"é\x00"}, PlayerIDs: true,
	})
	read, err := block.ParseAnswer(answer.Finish(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read.Columns()
	want := block.Columns{Attributes: []string{"b", "a"}, PlayerProperties: []string{"é\x00"},
		PlayerIDs: true}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	answer.Reset()
	if read, err = block.ParseAnswer(answer.Finish(), 0, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := read.Columns(); err != nil || !reflect.DeepEqual(got, block.Columns{}) {
		t.Errorf("an answer without columns has %+v, %v", got, err)
	}
}

// What a function names is checked.
func TestColumnsAreChecked(t *testing.T) {
	for text, want := range map[string]string{
		`[]`:                              "answer: columns: a JSON object is expected",
		`{"attributes":["a"`:              "answer: columns: it is no JSON: ",
		`{"attributes":"a"}`:              "attributes: a list of names is expected",
		`{"properties":[1]}`:              "a list of names is expected",
		`{"properties":[""]}`:             "properties[0] is empty",
		`{"players":{"attributes":[{}]}}`: "players.attributes: a list of names is expected",
		`{"x":"` + strings.Repeat("x", block.MaxColumns) + `"}`: "bytes are more than 262144",
	} {
		read, err := block.ParseAnswer(answer(raw{10, "", []byte(text)}), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if c, err := read.Columns(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %+v, %v", text, c, err)
		}
	}
	if _, err := block.ParseAnswer(answer(raw{10, "", nil}, raw{10, "", nil}), 0, 0); err == nil {
		t.Error("columns may be there twice")
	}
}

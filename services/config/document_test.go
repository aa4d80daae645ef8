package config

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

// tester is what tests, fuzz tests and properties have in common.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

func encode(t tester, v any) jsontext.Value {
	t.Helper()
	text, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		t.Fatalf("not writable: %v", err)
	}
	return text
}

// node is a JSON value whose members keep their order and may be given twice.
type node struct {
	scalar  string // any JSON that is to be left alone
	members []member
	items   []*node
	array   bool
	free    bool // its keys are the sender's
	path    string
}

type member struct {
	name  string
	value *node
}

func (n *node) write(b *strings.Builder) {
	switch {
	case n.scalar != "":
		b.WriteString(n.scalar)
	case n.array:
		b.WriteByte('[')
		for i, item := range n.items {
			b.WriteString(strings.Repeat(",", min(i, 1)))
			item.write(b)
		}
		b.WriteByte(']')
	default:
		b.WriteByte('{')
		for i, m := range n.members {
			b.WriteString(strings.Repeat(",", min(i, 1)))
			name, _ := jsontext.AppendQuote(nil, m.name)
			b.Write(name)
			b.WriteByte(':')
			m.value.write(b)
		}
		b.WriteByte('}')
	}
}

func (n *node) text() jsontext.Value {
	var b strings.Builder
	n.write(&b)
	return jsontext.Value(b.String())
}

// all is every node, from the outside in, with its path.
func (n *node) all(path string) []*node {
	n.path = path
	list := []*node{n}
	for _, m := range n.members {
		list = append(list, m.value.all(strings.TrimPrefix(path+"."+m.name, "."))...)
	}
	for i, item := range n.items {
		list = append(list, item.all(fmt.Sprintf("%s[%d]", path, i))...)
	}
	return list
}

// anyCase gives the contract's names another case, which the paths of faults do not show.
func anyCase(t *rapid.T, n *node) {
	for i, m := range n.members {
		if !n.free && rapid.Bool().Draw(t, "other case") {
			n.members[i].name = strings.Map(func(r rune) rune {
				if rapid.Bool().Draw(t, "upper") {
					return unicode.ToUpper(r)
				}
				return unicode.ToLower(r)
			}, m.name)
		}
		anyCase(t, m.value)
	}
	for _, item := range n.items {
		anyCase(t, item)
	}
}

func (n *node) add(name string, value *node) { n.members = append(n.members, member{name, value}) }

func quoted(s string) *node {
	text, _ := jsontext.AppendQuote(nil, s)
	return &node{scalar: string(text)}
}

func numeral(f float64) *node {
	text, _ := json.Marshal(f)
	return &node{scalar: string(text)}
}

package agones

import (
	"strings"
	"testing"
)

func TestLabels(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	words := strings.Repeat("a.", 126) + "a" // 253 bytes
	for text, want := range map[string]struct{ value, key, namespace bool }{
		"":              {value: true},
		"a":             {true, true, true},
		"0":             {true, true, true},
		"A":             {value: true, key: true},
		"a-b":           {true, true, true},
		"a.b":           {true, true, true},
		"a..b":          {value: true, key: true},
		"a.-b":          {value: true, key: true},
		"a_B-c.9":       {value: true, key: true},
		"-a":            {},
		"a-":            {},
		".a":            {},
		"a.":            {},
		"_a":            {},
		"a_":            {},
		"a b":           {},
		"a\n":           {},
		"ü":             {},
		"a=b":           {},
		long(63):        {true, true, true},
		long(64):        {namespace: true},
		long(253):       {namespace: true},
		long(254):       {},
		words:           {namespace: true},
		words + "a":     {},
		"example.com/a": {key: true},
		"a/B_c.9":       {key: true},
		"a/":            {},
		"/a":            {},
		"a/b/c":         {},
		"A/b":           {},
		"a_b/c":         {},
		"a./c":          {},
		"a/-c":          {},
		"a/" + long(63): {key: true},
		"a/" + long(64): {},
		words + "/a":    {key: true},
		words + "a/a":   {},
	} {
		if got := isLabelValue(text); got != want.value {
			t.Errorf("%q is a value: %t", text, got)
		}
		if got := isLabelKey(text); got != want.key {
			t.Errorf("%q is a key: %t", text, got)
		}
		if got := isNamespace(text); got != want.namespace {
			t.Errorf("%q is a namespace: %t", text, got)
		}
	}
}

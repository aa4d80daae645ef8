package state

import (
	"errors"
	"testing"
)

// TestRepliesOfAnotherShapeAreErrors: what a script answers in another shape is never taken for nothing.
func TestRepliesOfAnotherShapeAreErrors(t *testing.T) {
	var good replied
	if good.text("a") != "a" || good.text(nil) != "" || good.number(int64(7)) != 7 || good.number(nil) != 0 ||
		len(good.texts([]any{"a", nil})) != 2 || good.err != nil {
		t.Errorf("%+v", good)
	}
	for name, read := range map[string]func(*replied){
		"a number for a text": func(r *replied) { r.text(int64(1)) },
		"a text for a number": func(r *replied) { r.number("1") },
		"a list for a text":   func(r *replied) { r.text([]any{}) },
		"one of several":      func(r *replied) { r.texts([]any{"a", int64(1)}) },
		"a text for a flag":   func(r *replied) { r.flag("1") },
		"no digits":           func(r *replied) { r.digits("1x") },
	} {
		var bad replied
		if read(&bad); bad.err == nil {
			t.Errorf("%s is read", name)
		}
		first := bad.err
		if bad.text(true); !errors.Is(bad.err, first) {
			t.Errorf("%s: the first error is not kept", name)
		}
	}
	if _, err := allocationOf([]any{int64(1), int64(1)}); err == nil {
		t.Error("an allocation")
	}
	if _, _, _, err := parseEnds([]any{int64(1), int64(1), int64(1)}); err == nil {
		t.Error("ends")
	}
	if _, err := endedOf(new(Ending), []any{int64(1), "", ""}); err == nil {
		t.Error("an end")
	}
}

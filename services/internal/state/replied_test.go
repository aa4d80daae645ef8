package state

import (
	"errors"
	"strings"
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
		"no digits":           func(r *replied) { r.digits("1x") },
		"empty digits":        func(r *replied) { r.digits("") },
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
	if _, _, err := allocationOf([]any{int64(1), int64(1)}); err == nil {
		t.Error("an allocation")
	}
	if _, err := endedOf(new(Ending), []any{int64(1), "", ""}); err == nil {
		t.Error("an end")
	}
	var text string
	var number int64
	var rest []string
	for _, good := range []any{[]any{"ok", int64(2)}, []any{"ok", int64(2), "a", "b"}, []any{"refused"}, "refused"} {
		if err := parseReply(good, &text, &number, &rest); err != nil {
			t.Errorf("%v: %v", good, err)
		}
	}
	for _, bad := range []any{[]any{"ok"}, "ok", nil, []any{}, []any{nil, int64(2)}, []any{"ok", "2"},
		[]any{"ok", int64(2), int64(3)}, []any{int64(2)}} {
		if err := parseReply(bad, &text, &number, &rest); err == nil {
			t.Errorf("%v is read", bad)
		}
	}
	if err := parseReply([]any{"a", int64(1), "more"}, &text, &number); err == nil {
		t.Error("more than was asked for is read")
	}
	var position uint64
	if err := parseReply(int64(-1), &position); err == nil {
		t.Error("a position below zero is read")
	}
	var flag bool
	if err := parseReply(int64(1), &flag); err != nil || !flag {
		t.Errorf("1 is read as %v, %v", flag, err)
	}
	if err := parseReply(int64(0), &flag); err != nil || flag {
		t.Errorf("0 is read as %v, %v", flag, err)
	}
	for _, bad := range []any{"1", int64(7), int64(-1), nil} {
		if err := parseReply([]any{bad}, &flag); err == nil {
			t.Errorf("%v is read as a flag", bad)
		}
	}
	of := replied{of: "match m"}
	if of.digits("1x"); !strings.Contains(of.err.Error(), "match m") {
		t.Errorf("what is corrupt is not named: %v", of.err)
	}
	if err := parseReply("a", &rest); err == nil {
		t.Error("a text is read as a list")
	}
}

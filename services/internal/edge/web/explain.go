package web

import (
	"bytes"
	"encoding"
	"errors"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"matchmaker.dev/services/internal/edge/problem"
)

// explain describes a decoding error to the sender of the body: the member's path, what is expected there, and what
// came. It never repeats values, which may be a player's or a studio's secrets.
func explain(err error, text []byte) error {
	if bad, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return explainSyntax(bad, text)
	}
	bad, ok := errors.AsType[*json.SemanticError](err)
	if !ok {
		return problem.Wrap(problem.Internal, err, "decode the body")
	}
	at := path(bad.JSONPointer)
	if f, ok := errors.AsType[*problem.Error](bad.Err); ok {
		return problem.New(problem.Invalid, "%s: %s", at, f) // a type's own decoder said why
	}
	if null, ok := errors.AsType[nullError](bad.Err); ok {
		return problem.New(problem.Invalid, "%s: %s is expected, got null", at, expectation(null.goType))
	}
	expected := expectation(bad.GoType)
	switch {
	case errors.Is(bad.Err, json.ErrUnknownName):
		return problem.New(problem.Invalid, "%s: unknown member", at)
	case errors.Is(bad.Err, strconv.ErrRange):
		return problem.New(problem.Invalid, "%s: the number is out of range", at)
	case bad.JSONKind == jsontext.KindString && expected == base64String:
		return problem.New(problem.Invalid, "%s: "+notBase64, at)
	}
	return problem.New(problem.Invalid, "%s: %s is expected, got %s", at, expected,
		problem.Word(KindName(bad.JSONKind)))
}

func explainSyntax(bad *jsontext.SyntacticError, text []byte) error {
	switch {
	case bad.ByteOffset == 0 && hasMark(text):
		return problem.New(problem.Invalid, "the body begins with a byte order mark: JSON is UTF-8 without one")
	case bytes.IndexByte(text[:min(2, len(text))], 0) >= 0:
		return problem.New(problem.Invalid, "the body is UTF-16 or UTF-32: JSON is UTF-8")
	case errors.Is(bad.Err, jsontext.ErrDuplicateName):
		return problem.New(problem.Invalid, "%s: given twice", path(bad.JSONPointer))
	case errors.Is(bad.Err, io.ErrUnexpectedEOF):
		return problem.New(problem.Invalid, "the body is not JSON: it ends too early, after byte %d", bad.ByteOffset)
	case !utf8.Valid(text):
		return problem.New(problem.Invalid, "%s: not UTF-8, at byte %d", path(bad.JSONPointer), bad.ByteOffset)
	}
	reason, _, _ := strings.Cut(bad.Err.Error(), " `") // which is followed by a part of the body
	return problem.New(problem.Invalid, "the body is not JSON: %s, at byte %d", problem.Word(reason), bad.ByteOffset)
}

// hasMark reports whether a text begins with the byte order mark of UTF-8, UTF-16 or UTF-32.
func hasMark(text []byte) bool {
	return slices.ContainsFunc([]string{"\ufeff", "\xff\xfe", "\xfe\xff", "\x00\x00\xfe\xff"}, func(mark string) bool {
		return strings.HasPrefix(string(text[:min(4, len(text))]), mark)
	})
}

// path is a JSON pointer as people write it: pools.main.filters.0.min.
func path(p jsontext.Pointer) string {
	if text := strings.Join(slices.Collect(p.Tokens()), "."); text != "" {
		return shortened(text, 100)
	}
	return "the body"
}

// shortened cuts a text that is longer than so many bytes.
func shortened(text string, longest int) string {
	if len(text) <= longest {
		return text
	}
	for !utf8.RuneStart(text[longest]) {
		longest--
	}
	return text[:longest] + "…"
}

const (
	base64String = "a Base64 string"
	notBase64    = "not Base64 (standard alphabet, with padding)"
)

func expectation(t reflect.Type) problem.Word {
	if t == nil || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return "another value"
	}
	if isInteger(t.Kind()) {
		return "an integer"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return expectation(t.Elem())
	case reflect.Bool:
		return "a boolean"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "a string"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Slice, reflect.Array:
		if isBytes(t) {
			return base64String
		}
		return "an array"
	}
	return "another value"
}

func isBytes(t reflect.Type) bool {
	return t.Elem() == reflect.TypeFor[byte]()
}

// KindName is what people call a kind of JSON value.
func KindName(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	}
	return "something else"
}

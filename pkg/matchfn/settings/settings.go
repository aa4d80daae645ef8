// Package settings decodes a config's settings into a struct. It is apart from
// package matchfn because it needs encoding/json, which makes a module half as
// large again; a few plain values are read more cheaply with matchfn's Settings.
package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Decode reads the settings of a run ([matchfn.Run.Config]) into the struct
// that into points to, which may hold defaults: what the settings do not name
// stays. A member that the struct lacks is an error, and so is a value of
// another type; the text is for the author of the config.
func Decode(config []byte, into any) error {
	if len(config) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return explain(wrong)
		}
		return errors.New("settings: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("settings: text after the object")
	}
	return nil
}

// explain words the type of a value for those who write JSON and not Go.
func explain(wrong *json.UnmarshalTypeError) error {
	at := ""
	if wrong.Field != "" {
		at = fmt.Sprintf("%q: ", wrong.Field)
	}
	expected := "a " + wrong.Type.String()
	switch wrong.Type.Kind() {
	case reflect.Struct, reflect.Map:
		expected = "an object"
	case reflect.Slice, reflect.Array:
		expected = "a list"
	case reflect.String:
		expected = "a string"
	case reflect.Bool:
		expected = "true or false"
	case reflect.Float32, reflect.Float64:
		expected = "a number"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		expected = "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		expected = "a whole number that is not negative"
	}
	got := map[string]string{"object": "an object", "array": "a list", "bool": "true or false"}[wrong.Value]
	if got == "" {
		got = "a " + wrong.Value // a string; a number, perhaps with its text
	}
	return fmt.Errorf("settings: %s%s is expected, not %s", at, expected, got)
}

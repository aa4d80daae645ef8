// Package settings decodes a config's settings into a struct. It is separate from package matchfn because encoding/json
// makes a module half as large again. For a few simple values, matchfn.Settings is cheaper.
package settings

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Decode reads the settings of a run ([matchfn.Run.Config]) into the struct that into points to. Fields that the
// settings do not name keep their values, so that it may hold defaults. An unknown member and a value of another type
// are errors; their messages are for the author of the config.
func Decode(config []byte, into any) error {
	if len(config) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(config))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return typeError(wrong)
		}
		return errors.New("settings: " + strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("settings: there is text after the object")
	}
	return nil
}

// typeError describes a type error in JSON's terms, not Go's.
func typeError(wrong *json.UnmarshalTypeError) error {
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
	got = cmp.Or(got, "a "+wrong.Value) // a string; a number, perhaps with its text
	return fmt.Errorf("settings: %s%s is expected, not %s", at, expected, got)
}

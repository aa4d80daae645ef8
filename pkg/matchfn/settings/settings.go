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
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && wrong.Field != "" {
			return fmt.Errorf("settings: %q must be %s, not %s", wrong.Field, wrong.Type, wrong.Value)
		}
		return fmt.Errorf("settings: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("settings: text after the object")
	}
	return nil
}

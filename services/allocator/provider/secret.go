package provider

import "log/slog"

const hidden = "[secret]"

// Secret is a credential. It shows as "[secret]" wherever it is printed, logged
// or encoded; string(s) is the text itself.
type Secret string

// String hides the text from %v and %s.
func (Secret) String() string { return hidden }

// GoString hides the text from %#v.
func (Secret) GoString() string { return hidden }

// LogValue hides the text from slog.
func (Secret) LogValue() slog.Value { return slog.StringValue(hidden) }

// MarshalText hides the text from encoders.
func (Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

package web

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// PreferenceApplied is the header of an answer that says which preference it honours, see AppliedWait.
const PreferenceApplied = "Preference-Applied"

// AppliedWait is the preference "wait" as an answer repeats it.
func AppliedWait(wait time.Duration) string { return "wait=" + strconv.Itoa(int(wait.Seconds())) }

// PreferredWait is the time that a request prefers to wait, at most longest.
func PreferredWait(h http.Header, longest time.Duration) time.Duration {
	return preferredWait(h["Prefer"], longest)
}

// preferredWait is the time in a preference "wait" (RFC 7240): N in wait=N or wait="N", in seconds, at most longest. It
// is 0 without one. Of several the first counts; other preferences and parameters do not matter.
func preferredWait(headers []string, longest time.Duration) time.Duration {
	for _, header := range headers {
		for header != "" {
			var preference string
			preference, header = cutUnquoted(header, ',')
			preference, _ = cutUnquoted(preference, ';') // its parameters
			name, value, _ := strings.Cut(preference, "=")
			if !strings.EqualFold(strings.Trim(name, " \t"), "wait") {
				continue
			}
			n, err := strconv.ParseUint(unquote(strings.Trim(value, " \t")), 10, 32)
			switch {
			case errors.Is(err, strconv.ErrRange):
				return longest
			case err != nil:
				return 0
			}
			return min(time.Duration(n)*time.Second, longest)
		}
	}
	return 0
}

// cutUnquoted cuts a text at the first separator outside of quoted strings.
func cutUnquoted(text string, separator byte) (before, after string) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted && c == '\\':
			i++
		case !quoted && c == separator:
			return text[:i], text[i+1:]
		}
	}
	return text, ""
}

// unquote is the text of a token or of a quoted string.
func unquote(word string) string {
	if len(word) < 2 || word[0] != '"' || word[len(word)-1] != '"' {
		return word
	}
	var plain strings.Builder
	inner := word[1 : len(word)-1]
	for i := 0; i < len(inner); i++ {
		if inner[i] == '\\' && i+1 < len(inner) {
			i++
		}
		plain.WriteByte(inner[i])
	}
	return plain.String()
}

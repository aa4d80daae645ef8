package config

import (
	"fmt"
	"net/http"
	"strings"

	"matchmaker.dev/services/internal/match/definition"
)

// warningHeader has one warning each: its result code, a colon, a space, and the message. The contract defines the
// bodies of PUT and POST.
const warningHeader = "X-Config-Warning"

// How many warnings there are in the header of an answer, and how many bytes each has at most: some proxies take 4 KiB
// of headers. The answer of a check has all of them.
const (
	maxWarnings     = 8
	maxWarningBytes = 240
)

// warn adds warnings to the header of an answer.
func warn(header http.Header, found *definition.FieldErrors) {
	list := found.List()
	for _, w := range list[:min(len(list), maxWarnings)] {
		header.Add(warningHeader, headerText(w.ResultCode+": "+w.Message))
	}
}

// headerText is a text as a header may have it: in ASCII, with the rest escaped, and cut.
func headerText(text string) string {
	var b strings.Builder
	for _, r := range text {
		part := string(r)
		if r < ' ' || r > '~' {
			part = fmt.Sprintf(`\u%04x`, r)
		}
		if b.Len()+len(part) > maxWarningBytes-len("...") {
			b.WriteString("...")
			break
		}
		b.WriteString(part)
	}
	return b.String()
}

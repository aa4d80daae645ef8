package web

import (
	"errors"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// PreferenceApplied is the header of an answer that says which preference it honours, see AppliedWait.
const PreferenceApplied = "Preference-Applied"

// AppliedWait is the preference "wait" as an answer repeats it.
func AppliedWait(wait time.Duration) string { return "wait=" + strconv.Itoa(int(wait.Seconds())) }

// preference is one of a header, up to a comma outside of quotes.
var preference = regexp.MustCompile(`[^,"]*(?:"(?:[^"\\]|\\.)*"[^,"]*)*`)

// PreferredWait is the time in a preference "wait" of a request (RFC 7240): N in wait=N or wait="N", in seconds, at
// most longest. It is 0 without one. Of several the first counts; other preferences and parameters do not matter.
func PreferredWait(h http.Header, longest time.Duration) time.Duration {
	for _, one := range preference.FindAllString(strings.Join(h["Prefer"], ","), -1) {
		one, _, _ = strings.Cut(one, ";") // its parameters
		name, value, _ := strings.Cut(one, "=")
		if !strings.EqualFold(strings.TrimSpace(name), "wait") {
			continue
		}
		value = strings.NewReplacer(`"`, "", `\`, "").Replace(strings.TrimSpace(value))
		n, err := strconv.ParseUint(value, 10, 32)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return longest
		case err != nil:
			return 0
		}
		return min(time.Duration(n)*time.Second, longest)
	}
	return 0
}

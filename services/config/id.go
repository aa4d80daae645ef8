package config

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestID is the length in bytes of a file name on most file systems.
const longestID = 255

// deviceName is what Windows keeps for devices, with any extension.
var deviceName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)

// idProblem says why most file systems would refuse a file of this name; "" when they take it.
func idProblem(id string) string {
	switch {
	case id == "" || len(id) > longestID:
		return "1 to 255 bytes are allowed"
	case !utf8.ValidString(id):
		return "it is not UTF-8"
	case strings.ContainsAny(id, `/\:*?"<>|`):
		return `none of / \ : * ? " < > | is allowed`
	case strings.ContainsFunc(id, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "only printable characters are allowed"
	case id != strings.TrimSpace(id):
		return "a space is not allowed first or last"
	case strings.HasSuffix(id, "."):
		return "a dot is not allowed last"
	case deviceName.MatchString(id):
		return "this is the name of a device on Windows"
	}
	return ""
}

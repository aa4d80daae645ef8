package definition

import "strings"

// longestFunction is the most characters of a function's name.
const longestFunction = 64

// FunctionName is a function's name as it is stored and compared, in lower case, and whether it is one: 1 to 64
// letters, digits, '.', '_' and '-', of which the first and the last are letters or digits.
func FunctionName(raw string) (name string, ok bool) {
	name = LowerASCII(raw)
	if name == "" || len(name) > longestFunction {
		return name, false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
		case c == '.' || c == '_' || c == '-':
			if i == 0 || i == len(name)-1 {
				return name, false
			}
		default:
			return name, false
		}
	}
	return name, true
}

// LowerASCII is strings.ToLower for ASCII alone, which makes no ASCII letter out of another: the Kelvin sign is no k.
func LowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + ('a' - 'A')
		}
		return r
	}, s)
}

package party

import (
	"crypto/rand"
	"strings"

	"matchmaker.dev/services/internal/edge/problem"
)

// codeLetters are Crockford's: they are not confused when read out.
const codeLetters = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"

// codeLength makes codes of 45 random bits: with a million parties, one guess in 35 million finds a code.
const codeLength = 9

// newCode makes the code of a party.
func newCode() string {
	b := make([]byte, codeLength)
	_, _ = rand.Read(b) // it never fails
	for i := range b {
		b[i] = codeLetters[b[i]%byte(len(codeLetters))]
	}
	return string(b)
}

// asPeopleType turns what people type into the letters of codes.
var asPeopleType = strings.NewReplacer("-", "", " ", "", "O", "0", "I", "1", "L", "1")

// readCode reads a code as people type it: in either case, with dashes or spaces, with O for 0, and I or L for 1.
func readCode(typed string) (string, error) {
	code := asPeopleType.Replace(strings.ToUpper(typed))
	if len(typed) > 4*codeLength || len(code) != codeLength || strings.Trim(code, codeLetters) != "" {
		return "", problem.New(problem.Invalid, "code: a party's code has %d letters and digits", codeLength)
	}
	return code, nil
}

package transport

import "strings"

const (
	// maxWords is how much of a hosting system's own words goes into an error.
	maxWords = 300
	// maxShared is how many letters and digits in a row those words may have in common with a secret.
	maxShared = 9
)

// Words is the function of that name, for what an answer says: what the caller proved itself with is a secret, too.
func (a *Answer) Words(text string, secrets ...string) string {
	_, shown, _ := strings.Cut(a.shown, " ") // without the scheme
	return Words(text, append(secrets, shown)...)
}

// Words makes what a hosting system says fit for an error: short, in one line, and nothing at all where it repeats some
// of what it was not meant to repeat, in whatever notation.
func Words(text string, secrets ...string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if len(text) > maxWords {
		text = strings.ToValidUTF8(text[:maxWords], "") + "…"
	}
	said := squeeze(text)
	for _, secret := range secrets {
		if shares(said, squeeze(secret)) {
			return "(it repeats what it was told)"
		}
	}
	return text
}

// shares tells whether two texts have a run in common that is too long, or all of a short secret.
func shares(said, secret string) bool {
	if len(secret) <= maxShared {
		return len(secret) >= 4 && strings.Contains(said, secret)
	}
	for i := 0; i+maxShared < len(said); i++ {
		if strings.Contains(secret, said[i:i+maxShared+1]) {
			return true
		}
	}
	return false
}

// squeeze leaves letters and digits: quotes, escapes and percent signs differ from one notation to the other.
func squeeze(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, text)
}

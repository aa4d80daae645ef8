package transport

import "strings"

const (
	// maxText is the most bytes of a hosting system's message in an error.
	maxText = 300
	// maxShared is how many letters and digits in a row a message may have in common with a secret.
	maxShared = 9
)

// Redact is the function Redact for a text of the answer. The credentials of the call are secrets too.
func (a *Answer) Redact(text string, secrets ...string) string {
	_, credentials, _ := strings.Cut(a.authorization, " ") // without the scheme
	return Redact(text, append(secrets, credentials)...)
}

// Redact makes a hosting system's message fit for an error: short and in one line. A message that repeats a part of a
// secret, in whatever notation, is left out.
func Redact(text string, secrets ...string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ")
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return -1
		}
		return r
	}, text)
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	said := squeeze(text)
	for _, secret := range secrets {
		if shares(said, squeeze(secret)) {
			return "(left out: it repeats a secret)"
		}
	}
	return text
}

// shares reports whether a message has more than maxShared characters in a row of a secret, or all of a short secret.
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

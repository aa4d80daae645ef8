package account

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Server is a server that processes log in to: its name, and the prefix of its flags.
type Server struct{ Name, Flag string }

// Cause is a reason why connections fail. It matches any of its errors, and errors that contain any of its texts.
// Advice says what to do.
type Cause struct {
	Errors []error
	Texts  []string
	Advice string
}

func (c Cause) of(err error) bool {
	text := err.Error()
	return slices.ContainsFunc(c.Errors, func(e error) bool { return errors.Is(err, e) }) ||
		slices.ContainsFunc(c.Texts, func(t string) bool { return strings.Contains(text, t) })
}

// Explain says what to do about an error of a connection. It is the advice of the first cause that matches, of these
// causes or of those that all servers have in common. When none matches it is otherwise.
func (s Server) Explain(err error, causes []Cause, otherwise string) string {
	for _, c := range slices.Concat(causes, s.certificates()) {
		if c.of(err) {
			return c.Advice
		}
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		return fmt.Sprintf("a file with the login for %s cannot be read, see --%s-password: %v",
			s.Name, s.Flag, failed)
	}
	return otherwise
}

func (s Server) certificates() []Cause {
	return []Cause{
		{
			Texts: []string{"x509:", "tls: failed to verify certificate"},
			Advice: fmt.Sprintf("%s's certificate is not trusted: give its authority with --%s-ca, and check that the "+
				"certificate names the host of --%[2]s", s.Name, s.Flag),
		},
		{
			// A server may close the connection before its alert was read.
			Texts: []string{"certificate required", "bad certificate", "handshake failure", "unknown certificate authority",
				"closed by remote after TLS handshake"},
			Advice: fmt.Sprintf("%s refuses the certificate of this service: give another one with --%s-cert and "+
				"--%[2]s-key", s.Name, s.Flag),
		},
	}
}

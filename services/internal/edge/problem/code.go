package problem

import "net/http"

// Code says what sort of failure an error is. Answers have its name, so the codes are a closed set: clients of this
// version know them all. The OpenAPI document declares them, and codes.go is generated from it.
type Code uint8

// Definition is what a code means. The reference is made from the definitions.
type Definition struct {
	// Name is the code in answers.
	Name   string
	Status int
	// Retry: the same request may succeed later.
	Retry bool
	// When is a sentence for developers, and Player what a player may be told.
	When, Player string
}

// Definitions are what all codes mean, in the order of the codes.
func Definitions() []Definition { return definitions[:] }

// String is the name of a code.
func (c Code) String() string { return definitions[c].Name }

// Status is the HTTP status of a code.
func (c Code) Status() int { return definitions[c].Status }

// Kind is the general code of the same status.
func (c Code) Kind() Code { return OfStatus(c.Status()) }

// OfStatus is the general code of an HTTP status, or of the nearest one that has a code.
func OfStatus(status int) Code {
	for c, d := range definitions {
		if d.Status == status {
			return Code(c)
		}
	}
	switch {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		return TooLarge
	case status == http.StatusExpectationFailed, status == http.StatusNotImplemented,
		status == http.StatusHTTPVersionNotSupported:
		return Unsupported
	case status > http.StatusInternalServerError:
		return Unavailable // a gateway's
	}
	return Invalid
}

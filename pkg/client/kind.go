package client

import (
	"errors"
	"net/http"
	"net/url"
)

// ErrorKind says what sort of failure ended a call. There are no others than these.
type ErrorKind string

// Kinds of errors.
const (
	ErrorOffline    ErrorKind = "offline"    // no answer came
	ErrorBusy       ErrorKind = "busy"       // 429, 502, 503 or 504: the service, or a proxy before it, could not
	ErrorToken      ErrorKind = "token"      // there is no token, or it was answered 401
	ErrorForbidden  ErrorKind = "forbidden"  // 403
	ErrorNotFound   ErrorKind = "not_found"  // 404
	ErrorConflict   ErrorKind = "conflict"   // 409 and 412: the player searches already, or is in another party
	ErrorInvalid    ErrorKind = "invalid"    // another 4xx: a mistake in the game
	ErrorUnexpected ErrorKind = "unexpected" // what came is not what the API says
)

// KindOf is the kind of an error of a call.
func KindOf(err error) ErrorKind {
	switch status := Status(err); {
	case status == 0 && errors.Is(err, ErrNoToken):
		return ErrorToken
	case status == 0 && isTransport(err):
		return ErrorOffline
	case status == http.StatusTooManyRequests, status == http.StatusBadGateway, status == http.StatusServiceUnavailable,
		status == http.StatusGatewayTimeout:
		return ErrorBusy
	case status == http.StatusUnauthorized:
		return ErrorToken
	case status == http.StatusForbidden:
		return ErrorForbidden
	case status == http.StatusNotFound:
		return ErrorNotFound
	case status == http.StatusConflict, status == http.StatusPreconditionFailed:
		return ErrorConflict
	case status/100 == 4:
		return ErrorInvalid
	}
	return ErrorUnexpected
}

// isTransport reports whether a request got no whole answer, whatever the reason.
func isTransport(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok || connectionFailed(err)
}

// text is what a player may be told where the service gave no code.
func (k ErrorKind) text() string {
	switch k {
	case ErrorOffline:
		return "Matchmaking cannot be reached. Check your connection and try again."
	case ErrorBusy:
		return "Matchmaking is busy. Try again in a minute."
	case ErrorToken:
		return "Your login is no longer valid. Log in again."
	case ErrorForbidden:
		return "You may not do this."
	case ErrorNotFound:
		return "There is no such party or search any more."
	case ErrorConflict:
		return "You are searching already, or are in another party."
	case ErrorInvalid:
		return "The game asked for something that is not possible. Update the game."
	}
	return "Matchmaking gave an answer that the game does not understand. Try again later."
}

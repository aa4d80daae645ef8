package client

import (
	"errors"
	"net/http"
	"net/url"
)

// Codes where no answer of the service says what went wrong.
const (
	CodeOffline    Code = "offline"    // no whole answer came
	CodeUnexpected Code = "unexpected" // what came is not what the API says
)

// GeneralCode is what sort of failure ended a call: [CodeOffline], [CodeUnexpected], or the general code of the status,
// which a proxy may have answered, too. There are no others in later versions.
func GeneralCode(err error) Code {
	status := Status(err)
	switch {
	case status == 0 && errors.Is(err, ErrNoToken):
		return CodeUnauthenticated
	case status == 0 && isTransport(err):
		return CodeOffline
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		return CodeUnavailable
	case status == http.StatusPreconditionFailed:
		return CodeConflict
	}
	for _, c := range codes {
		if c.status == status {
			return c.code // the general code is the first
		}
	}
	if status/100 == 4 {
		return CodeInvalid
	}
	return CodeUnexpected
}

// isTransport reports whether a request got no whole answer, whatever the reason.
func isTransport(err error) bool {
	_, ok := errors.AsType[*url.Error](err)
	return ok || connectionFailed(err)
}

// PlayerText is a sentence in English that a player may be told of a failed call. It is the same for all errors of a
// code, and of a general code where this version does not know the code; translate it by these.
func PlayerText(err error) string {
	general := GeneralCode(err)
	for _, code := range []Code{CodeOf(err), general} {
		for _, c := range codes {
			if c.code == code {
				return c.player
			}
		}
	}
	if general == CodeOffline {
		return "Matchmaking cannot be reached. Check your connection and try again."
	}
	return "Matchmaking gave an answer that the game does not understand. Try again later."
}

package web

import (
	"net/url"
	"strconv"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
)

// Query is the parameters of the query. It is Invalid when it cannot be read as a whole, since a part of it would be
// taken for not given, and when one of the parameters known is given more than once. Unknown parameters are ignored.
func Query(c echo.Context, known ...string) (url.Values, error) {
	query, err := url.ParseQuery(c.Request().URL.RawQuery)
	if err != nil {
		return nil, problem.New(problem.Invalid, "the query cannot be read: %v", err)
	}
	for _, name := range known {
		if len(query[name]) > 1 {
			return nil, problem.New(problem.Invalid, "query parameter %s: given more than once", problem.Word(name))
		}
	}
	return query, nil
}

// MostListed is how many entries a list has at most.
const MostListed = 200

// Limit is how many entries a list is to have: the query's limit, 50 if it has none.
func Limit(query url.Values) (int, error) { return Number(query, "limit", 50, 1, MostListed) }

// Flag reads a parameter of a query that is true or false, false if there is none.
func Flag(query url.Values, name string) (bool, error) {
	switch query.Get(name) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, problem.New(problem.Invalid, "query parameter %s: true or false is expected", problem.Word(name))
}

// Number reads a whole number of a query, absent if it has none.
func Number(query url.Values, name string, absent, least, most int) (int, error) {
	if !query.Has(name) {
		return absent, nil
	}
	n, err := strconv.Atoi(query.Get(name))
	if err != nil || n < least || n > most {
		return 0, problem.New(problem.Invalid, "query parameter %s: a whole number from %d to %d is expected",
			problem.Word(name), least, most)
	}
	return n, nil
}

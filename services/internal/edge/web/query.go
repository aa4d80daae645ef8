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

// Limit is how many entries a list has at most: the query's limit, from 1 to most, or the usual number.
func Limit(query url.Values, usual, most int) (int, error) {
	if !query.Has("limit") {
		return usual, nil
	}
	n, err := strconv.Atoi(query.Get("limit"))
	if err != nil || n < 1 || n > most {
		return 0, problem.New(problem.Invalid, "query parameter limit: a whole number from 1 to %d is expected", most)
	}
	return n, nil
}

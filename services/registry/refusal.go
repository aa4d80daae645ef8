package registry

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/services/internal/edge/problem"
	"matchmaker.dev/services/internal/match/definition"
)

// refuse says what is wrong with an uploaded file.
func refuse(format string, args ...any) *problem.Error {
	return problem.New(problem.Invalid, "file: "+format, args...)
}

func unpacksTooLarge(most int64) error {
	return refuse("the archive unpacks to more than %d bytes, too many for its size", most).Exceeds("upload")
}

func (l limits) moduleTooLong(what string) error {
	return refuse("%s is longer than the maximum of %d bytes for a module", what, l.module).Exceeds("upload")
}

// damagedArchive words the errors of archive readers; refusals stay as they are.
func damagedArchive(err error) error {
	if _, ours := errors.AsType[*problem.Error](err); ours {
		return err
	}
	reason := "its contents make no sense"
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		reason = "it ends too early"
	case errors.Is(err, zip.ErrChecksum), errors.Is(err, gzip.ErrChecksum):
		reason = "a checksum is wrong"
	case errors.Is(err, zip.ErrAlgorithm):
		reason = "it is compressed by another method than deflate"
	case errors.Is(err, zip.ErrFormat):
		reason = "it is no complete .zip"
	case errors.Is(err, gzip.ErrHeader):
		reason = "it is no .gz"
	case errors.Is(err, tar.ErrHeader):
		reason = "what is compressed in it is no .tar"
	}
	return problem.Wrap(problem.Invalid, err, "file: the archive is damaged: %s", reason)
}

// quote makes any text fit for a message: short, on one line, printable.
func quote(s string) string {
	const most = 80
	if len(s) > most {
		return strconv.QuoteToASCII(s[:most]) + "…"
	}
	return strconv.QuoteToASCII(s)
}

// list names the first of many.
func list(names []string) string {
	const most = 10
	quoted := make([]string, 0, most)
	for _, name := range names[:min(most, len(names))] {
		quoted = append(quoted, quote(name))
	}
	if more := len(names) - most; more > 0 {
		quoted = append(quoted, "and "+strconv.Itoa(more)+" more")
	}
	return strings.Join(quoted, ", ")
}

// named is a handler of a function that the path names. It gets the name in lower case.
func named(handle func(c echo.Context, name string) error) echo.HandlerFunc {
	return func(c echo.Context) error {
		name, err := parseName(c.Param("name"))
		if err != nil {
			return err
		}
		return handle(c, name)
	}
}

// parseName checks a function's name and lower-cases it: names are compared so.
func parseName(raw string) (string, error) {
	name, ok := definition.FunctionName(raw)
	if !ok {
		what := quote(raw) + " is not a function name"
		if raw == "" {
			what = "missing"
		}
		return "", problem.New(problem.Invalid,
			"name: %s: 1 to 64 letters, digits, '.', '_' or '-' are expected, "+
				"of which the first and the last are letters or digits", what)
	}
	return name, nil
}

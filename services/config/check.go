package config

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"
	"github.com/labstack/echo/v4"

	pb "matchmaker.dev/proto/matchmaker/v1"
	"matchmaker.dev/services/internal/edge/web"
	"matchmaker.dev/services/internal/match/definition"
)

// checked is the answer to a check of a config that would be stored.
type checked struct {
	// Creates: there is no such config yet.
	Creates  bool                    `json:"creates"`
	Warnings []definition.FieldError `json:"warnings"`
}

// check answers POST /configs/actions/check: what a PUT of the config would be answered, or a POST if no id is given.
// Nothing is stored. Services without it have no such path, so none of them takes it for a change.
func (s *service) check(c echo.Context) error {
	query, err := web.Query(c, "id")
	if err != nil {
		return err
	}
	id := query.Get("id")
	if !query.Has("id") {
		made, err := uuid.NewRandom()
		if err != nil {
			return err
		}
		id = made.String()
	}
	config, keys, err := s.read(c, id)
	if err != nil {
		return respondRefused(c, err)
	}
	asked, err := conditionOf(c.Request().Header)
	if err != nil {
		return err
	}
	ctx, project := c.Request().Context(), c.Param("project")
	found, err := s.judge(ctx, project, config)
	if err != nil {
		return respondRefused(c, err)
	}
	answer := checked{Warnings: found.List()}
	err = s.change(ctx, project, id, asked, needsStored(keys), func(expected int64, there *pb.Config) (err error) {
		if err := s.seal(project, config, keys, there); err != nil {
			return err
		}
		answer.Creates, err = s.Store.CheckConfig(ctx, project, config, expected)
		return err
	})
	if err != nil {
		return respondRefused(c, err)
	}
	return c.JSON(http.StatusOK, answer)
}

// warningHeader has one warning each: its result code, a colon, a space, and the message. The contract defines the
// bodies of PUT and POST.
const warningHeader = "X-Config-Warning"

// How many warnings there are in the header of an answer, and how many bytes each has at most: some proxies take 4 KiB
// of headers. The answer of a check has all of them.
const (
	maxWarnings     = 8
	maxWarningBytes = 240
)

// warn adds warnings to the header of an answer.
func warn(header http.Header, found *definition.FieldErrors) {
	list := found.List()
	for _, w := range list[:min(len(list), maxWarnings)] {
		header.Add(warningHeader, headerText(w.ResultCode+": "+w.Message))
	}
}

// headerText is a text as a header may have it: in ASCII, with the rest escaped, and cut.
func headerText(text string) string {
	var b strings.Builder
	for _, r := range text {
		part := string(r)
		if r < ' ' || r > '~' {
			part = fmt.Sprintf(`\u%04x`, r)
		}
		if b.Len()+len(part) > maxWarningBytes-len("...") {
			b.WriteString("...")
			break
		}
		b.WriteString(part)
	}
	return b.String()
}

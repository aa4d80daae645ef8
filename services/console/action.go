package console

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/labstack/echo/v4"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/match/difference"
)

// action changes something. ask says what, and run does it and returns the address to go on at. One that changes
// nothing has no ask.
type action struct {
	ask func(ctx context.Context, v *view) (*question, error)
	run func(ctx context.Context, v *view) (to string, err error)
}

// question asks whether something is to be changed. What the form has is sent again with the answer.
type question struct {
	Title, Text, Button string
	// Danger is set for what cannot be taken back.
	Danger      bool
	Differences []difference.Value
	Warnings    []client.Validation
	Fields      []field
	Back        string
}

type field struct{ Name, Value string }

// fieldsOf are the fields of a form, but for those that each page adds.
func (v *view) fieldsOf() (fields []field) {
	form, _ := v.FormParams() // act has read it
	for name, values := range form {
		if name != "csrf" && name != "confirm" {
			for _, value := range values {
				fields = append(fields, field{name, value})
			}
		}
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.Name, b.Name) })
	return fields
}

// act answers a form: with a question at first, and with what was done once that is confirmed.
func (s *service) act(c echo.Context) error {
	v, err := s.open(c)
	if v == nil || err != nil {
		return err
	}
	if err := s.checkForm(c, v.viewer); err != nil {
		return err
	}
	do, known := pages()[c.Param("page")].actions[c.FormValue("do")]
	if !known {
		return v.render(http.StatusNotFound, frame{Title: "Not found", Failure: "There is no such action."})
	}
	ctx, cancel := context.WithTimeout(c.Request().Context(), loadTime)
	defer cancel()
	section := pages()[c.Param("page")].section
	if do.ask != nil && c.FormValue("confirm") != "yes" {
		q, err := do.ask(ctx, v)
		if err != nil {
			return v.fail(err)
		}
		q.Fields = v.fieldsOf()
		return v.render(http.StatusOK, frame{Title: q.Title, Page: "confirm", Section: section, Data: q})
	}
	to, err := do.run(ctx, v)
	if err != nil {
		return v.fail(err)
	}
	return c.Redirect(http.StatusSeeOther, to)
}

// upload takes the file of a function. A script sends it, with the token of the page.
func (s *service) upload(c echo.Context) error {
	v, err := s.open(c)
	if v == nil || err != nil {
		return err
	}
	if err := s.checkForm(c, v.viewer); err != nil {
		return err
	}
	if c.Request().ContentLength == 0 {
		return c.String(http.StatusBadRequest, "The file is empty.")
	}
	name := c.QueryParam("name")
	err = v.API.UploadFunction(c.Request().Context(), name, client.FunctionUpload{Note: c.QueryParam("note"),
		Shadow: c.QueryParam("shadow") == "true"}, io.Reader(c.Request().Body))
	if err != nil {
		status := cmp.Or(client.Status(err), http.StatusBadGateway)
		return c.String(status, reasonOf(err))
	}
	return c.String(http.StatusOK, v.link("function", "name", name, "done",
		"The file was uploaded. It takes over as soon as it runs."))
}

// versionIn is the version that a form names.
func (v *view) versionIn() (int64, error) {
	n, err := strconv.ParseInt(v.FormValue("version"), 10, 64)
	if err != nil {
		return 0, viewerError("version: a whole number is expected.")
	}
	return n, nil
}

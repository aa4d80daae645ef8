package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"

	"matchmaker.dev/pkg/client"
	"matchmaker.dev/services/internal/match/definition"
)

// usageError is a wrong command line that the parser accepts.
type usageError string

func (e usageError) Error() string { return string(e) }

// messageError has a message of its own, whatever error it wraps.
type messageError struct {
	message string
	cause   error
}

func (e messageError) Error() string { return e.message }
func (e messageError) Unwrap() error { return e.cause }

// multilineError needs several lines.
type multilineError interface {
	error
	Lines() []string
}

// fileError lists what is wrong in a file, one field on each line.
type fileError struct {
	file string
	*definition.FieldErrors
}

// Lines has one for each wrong field.
func (e fileError) Lines() []string {
	var lines []string
	for _, field := range e.List() {
		lines = append(lines, e.file+": "+strings.TrimPrefix(field.Message, definition.Path("").String()+": "))
	}
	return lines
}

// addFile adds the file's name to the field errors in it. It returns other errors unchanged.
func addFile(file string, err error) error {
	if fields, ok := errors.AsType[*definition.FieldErrors](err); ok {
		return fileError{displayName(file), fields}
	}
	return err
}

// errorLines describes an error to the user: in one line, or in one for each wrong field of a config or a file.
func (s *session) errorLines(err error) []string {
	var lines []string
	if refused, ok := errors.AsType[*client.Error](err); ok && len(refused.Validation) > 0 {
		for _, v := range refused.Validation {
			text, _ := s.line.blame(v.Message)
			lines = append(lines, v.ResultCode+": "+text)
		}
	} else if long, ok := errors.AsType[multilineError](err); ok {
		lines = long.Lines()
	} else {
		lines = []string{s.errorText(err)}
	}
	for i, line := range lines {
		lines[i] = oneLine(line)
	}
	return lines
}

func (s *session) errorText(err error) string {
	if own, ok := errors.AsType[messageError](err); ok {
		return own.message
	}
	if ended, ok := errors.AsType[*client.EndedError](err); ok {
		return fmt.Sprintf("ticket %s ended: %s", ended.Ticket, cmp.Or(endings[ended.Reason], ended.Reason))
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return s.responseText(refused)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("timed out after %s (--timeout)", s.Timeout)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	if failure, ok := errors.AsType[*net.OpError](err); ok && failure.Op == "dial" {
		return fmt.Sprintf("no service answers at %s (%v): start one with \"matchmaker dev\", or give its address with --url",
			s.URL, failure.Err)
	}
	return strings.TrimPrefix(err.Error(), "client: ")
}

// endings say why a ticket ended.
var endings = map[string]string{
	"replaced":     "replaced (by a newer ticket of a player)",
	"abandoned":    "abandoned (it waited for too long)",
	"unserved":     "unserved (no config serves its queues)",
	"unheard":      "unheard (no request asked for it)",
	"declined":     "declined (a player declined a match)",
	"silent":       "silent (a player did not answer a match)",
	"expired":      "expired (its result was kept for its time)",
	client.EndGone: "deleted, or expired",
}

// responseText describes an error response of the service.
func (s *session) responseText(e *client.Error) string {
	text := fmt.Sprintf("%d %s", e.Status, e.Title)
	if e.Status == http.StatusNotFound { // perhaps since it is in another project
		text += ", project " + s.Project
	}
	if e.CorrelationID != "" {
		text += ", correlation id " + e.CorrelationID
	}
	if e.Detail == "" {
		text = "the service answered " + text
	} else {
		detail, _ := s.line.blame(e.Detail)
		text = fmt.Sprintf("%s (%s)", detail, text)
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; retry after %s", e.RetryAfter)
	}
	if e.Status == http.StatusUnauthorized && s.tokenMade {
		text += fmt.Sprintf("; the token was made with the key in %s: is that the folder of the service at %s?", s.Data,
			s.URL)
	}
	return text
}

// oneLine puts text on one line and makes it safe for a terminal.
func oneLine(text string) string { return printable(text, "") }

// printable replaces all characters that are not printable, except those in keep. So the output of match functions and
// of the service cannot control the terminal.
func printable(text, keep string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsPrint(r) || strings.ContainsRune(keep, r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return unicode.ReplacementChar
	}, text)
}

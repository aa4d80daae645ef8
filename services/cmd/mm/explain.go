package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"unicode"

	"matchmaker.dev/pkg/client"
)

// explain is a failure in words for the person who typed the command: one line,
// or one for each fault of a config or a file.
func (s *session) explain(err error) []string {
	if refused, ok := errors.AsType[*client.Error](err); ok && len(refused.Validation) > 0 {
		var lines []string
		for _, v := range refused.Validation {
			lines = append(lines, plain(v.ResultCode+": "+v.Message))
		}
		return lines
	}
	if long, ok := errors.AsType[listed](err); ok {
		var lines []string
		for _, line := range long.lines() {
			lines = append(lines, plain(line))
		}
		return lines
	}
	return []string{plain(s.reason(err))}
}

func (s *session) reason(err error) string {
	if _, ok := errors.AsType[outcome](err); ok {
		return err.Error()
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return s.refusal(refused)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Sprintf("timed out after %s (--timeout)", s.Timeout)
	case errors.Is(err, context.Canceled):
		return "interrupted"
	}
	if failure, ok := errors.AsType[*net.OpError](err); ok && failure.Op == "dial" {
		return fmt.Sprintf("no service answers at %s (%v): start one with \"matchmaker dev\", or give its address with --url", s.URL, failure.Err)
	}
	return strings.TrimPrefix(err.Error(), "client: ")
}

func (s *session) refusal(e *client.Error) string {
	text := fmt.Sprintf("%d %s", e.Status, e.Title)
	if e.CorrelationID != "" {
		text += ", correlation id " + e.CorrelationID
	}
	if e.Detail == "" {
		text = "the service answered " + text
	} else {
		text = fmt.Sprintf("%s (%s)", e.Detail, text)
	}
	if e.RetryAfter > 0 {
		text += fmt.Sprintf("; it asks to come again after %s", e.RetryAfter)
	}
	if e.Status == http.StatusUnauthorized && s.minted {
		text += fmt.Sprintf("; the token was made with the key in %s: is that the folder of the service at %s?", s.Data, s.URL)
	}
	return text
}

// outcome is a failure that explains itself, whatever it wraps.
type outcome struct {
	text  string
	cause error
}

func (o outcome) Error() string { return o.text }
func (o outcome) Unwrap() error { return o.cause }

// plain keeps text on one line, and keeps what others wrote (a match function,
// a service) from talking to the terminal.
func plain(text string) string { return printable(text, "") }

// printable replaces the characters of text that are not printed, but for those in keep.
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

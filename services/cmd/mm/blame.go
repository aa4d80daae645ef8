package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"matchmaker.dev/pkg/client"
)

// given are the values of a command line: "--config" or "<id>", as the help writes it, with what was given.
type given map[string][]string

// readGiven reads the values that the command line itself has. An empty one is a mistake, of a shell's variable most
// often: without it the command would do something else.
func readGiven(line *kong.Context) (given, error) {
	all := given{}
	if line == nil {
		return all, nil
	}
	for _, part := range line.Path {
		var name string
		switch {
		case part.Resolved:
			continue
		case part.Flag != nil:
			name = "--" + part.Flag.Name
		case part.Positional != nil:
			name = "<" + part.Positional.Name + ">"
		default:
			continue
		}
		value := line.Value(part)
		values := []string{fmt.Sprint(value)}
		if value.Kind() == reflect.Slice {
			values = nil
			for i := range value.Len() {
				values = append(values, fmt.Sprint(value.Index(i)))
			}
		}
		if name != "--note" && (slices.Contains(values, "") || value.Kind() == reflect.Slice && len(values) == 0) {
			return nil, usageError(name + ": an empty value")
		}
		all[name] = values
	}
	return all, nil
}

// members are the flags and arguments that give what requests call otherwise.
var members = map[string][]string{
	"attributes": {"--attribute"}, "properties": {"--property", "--value"}, "queues": {"--queue"},
	"players": {"--for", "--players"}, "player": {"<member>", "<player>", "--player", "<id>"},
	"configs": {"--config"}, "blockSeconds": {"--blocks"}, "percent": {"--percent"},
	"deadlineSeconds": {"--deadline"},
	"configId":        {"<id>", "--id"}, "functions": {"<name>"}, "X-On-Behalf-Of": {"--player"},
}

// said is how errors begin that are about a part of a request: a header, a parameter of the query, or a member of the
// body, and what the path of that goes on with.
var said = regexp.MustCompile(`^(?:query parameters? |header )?([A-Za-z-]+(?:, [A-Za-z]+)*)((?:\.[^:]*)?): `)

// blame says in the words of the command line what the service says of a request: it names the flags and arguments
// that were given. It is false for what the command line does not have.
func (g given) blame(detail string) (text string, ours bool) {
	m := said.FindStringSubmatch(detail)
	if m == nil {
		return detail, false
	}
	rest := strings.TrimPrefix(detail, m[0])
	var names []string
	for member := range strings.SplitSeq(m[1], ", ") {
		kebab := strings.TrimPrefix(strings.ToLower(upperCase.ReplaceAllString(member, "-$0")), "-")
		if strings.Contains(member, "-") {
			kebab = strings.ToLower(member)
		}
		for _, name := range append(members[member], "--"+kebab, "<"+kebab+">") {
			if g[name] != nil {
				names = append(names, name)
				break
			}
		}
	}
	switch {
	case len(names) == 0:
		return detail, false
	case names[0] == "--players": // a file: what is wrong is in it
		return "--players: " + detail, false
	}
	text = strings.Join(names, ", ")
	if of := strings.Trim(m[2], ".0123456789"); of != "" && names[0] != "--for" {
		text += " " + of
	}
	return text + ": " + rest, true
}

var upperCase = regexp.MustCompile(`[A-Z]`)

// holding is the flag or argument that names a file.
func (g given) holding(file string) string {
	for name, values := range g {
		for _, value := range values {
			if value == file || strings.Contains(value, "@"+file+"}") {
				return name
			}
		}
	}
	return ""
}

// misuse reports whether an error is one of the command line: a value that the service refuses, or a file that is not
// there. text says so in its words.
func (g given) misuse(err error) (text string, misuse bool) {
	if usage, ok := errors.AsType[usageError](err); ok {
		return usage.Error(), true
	}
	if _, own := errors.AsType[messageError](err); own {
		return "", false
	}
	if refused, ok := errors.AsType[*client.Error](err); ok {
		lines := []string{refused.Detail}
		for _, one := range refused.Validation {
			lines = append(lines, one.Message)
		}
		for _, one := range lines {
			_, ours := g.blame(one)
			misuse = misuse || ours && refused.Status == http.StatusBadRequest
		}
		return "", misuse
	}
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		if name := g.holding(failure.Path); name != "" {
			if text = failure.Error(); strings.HasPrefix(err.Error(), name+" ") {
				text = err.Error() // of which of many
			} else if name[0] == '-' {
				text = name + ": " + text
			}
			return text, true
		}
		return "", false
	}
	if failure, ok := errors.AsType[*url.Error](err); ok {
		if header, is := strings.CutPrefix(failure.Err.Error(), "net/http: invalid header field value for "); is {
			text, _ = g.blame("header " + strings.Trim(header, `"`) + ": only printable characters are allowed")
			return text, true
		}
	}
	for _, refusal := range []string{" cannot be in a path", " holds a control character"} {
		if text, misuse = strings.CutSuffix(strings.TrimPrefix(err.Error(), "client: "), refusal); misuse {
			return text + " cannot be: it is no name or identifier", true
		}
	}
	return "", false
}
